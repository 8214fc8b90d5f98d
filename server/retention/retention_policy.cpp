// SPDX-License-Identifier: Apache-2.0
#include "server/retention/retention_policy.h"

#include <algorithm>

namespace assay::retention {

namespace {

Timestamp cutoff(Timestamp now, std::int64_t days)
{
    if (days <= 0)
        return Timestamp::min();
    return now - std::chrono::days(std::min<std::int64_t>(days, kMaxDays));
}

} // namespace

store::Cutoffs cutoffsAt(Timestamp now, const RetentionDefaults& defaults, const store::RetentionRow& scope)
{
    return {.runs = cutoff(now, scope.runsDays.value_or(defaults.runsDays)),
            .artifacts = cutoff(now, scope.artifactsDays.value_or(defaults.artifactsDays)),
            .revisions = cutoff(now, scope.revisionsDays.value_or(defaults.revisionsDays))};
}

} // namespace assay::retention
