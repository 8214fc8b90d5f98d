// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/expired_rows.h"

#include <functional>
#include <string>
#include <string_view>

namespace assay::retention {

/// How the expired rows of one kind are found and removed in one scope.
struct RowKind
{
    std::function<Result<std::vector<store::ExpiredRow>>(store::ExpiredRows&, const store::ExpiredRow* after)> list;
    std::function<Result<store::RowRemoval>(store::ExpiredRows&, const store::ExpiredRow&)> remove;
};

/// Keys that one listing gives.
inline constexpr std::uint32_t kListedRows = 200;

using RowKindOf = RowKind (*)(const std::string& scope, const store::Cutoffs& cutoffs);
RowKind expiredRuns(const std::string& scope, const store::Cutoffs& cutoffs);
RowKind expiredArtifacts(const std::string& scope, const store::Cutoffs& cutoffs);
RowKind expiredRevisions(const std::string& scope, const store::Cutoffs& cutoffs);
RowKind expiredSkills(const std::string& scope, const store::Cutoffs& cutoffs);

} // namespace assay::retention
