// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/exchange.h"
#include "server/registry/archive.h"

namespace assay::api {

/// The archive kind of a `Content-Type` value (api.md, "Skills"); empty when it is none. Pure, like the next.
std::optional<registry::ArchiveKind> archiveKind(std::string_view contentType);

/// Is a body of this type read as JSON? One without a type is; PATCH also takes a merge patch (RFC 7396).
bool isJsonType(std::string_view contentType, Method method);

} // namespace assay::api
