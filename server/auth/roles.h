// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/identity.h"
#include "server/core/error.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::auth {

/// Every role that may read its scope's content; the operator's is not one of them.
inline constexpr Roles kReaders = Roles(Role::Viewer) | Role::Builder | Role::Reviewer | Role::Runner;
inline constexpr Roles kEveryRole = kReaders | Role::Operator;

/// "viewer", "builder", "reviewer", "runner", "operator", in this order.
std::vector<std::string> roleNames(Roles roles);

/// At least one name, none unknown, each at most once; `InvalidArgument` otherwise.
Result<Roles> rolesNamed(const std::vector<std::string>& names);

/// The same from a comma-separated list, blanks around names allowed: the `Assay-Roles` header.
Result<Roles> readRoleList(std::string_view list);

} // namespace assay::auth
