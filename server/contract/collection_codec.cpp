// SPDX-License-Identifier: Apache-2.0
#include "server/contract/codec.h"
#include "server/contract/json_parts.h"
#include "server/contract/object_reader.h"

namespace assay::contract {

Result<bool> readCollect(const json::value& body)
{
    bool dryRun = false;
    ObjectReader in(body);
    in.flag("dry_run", dryRun);
    return in.finish(dryRun);
}

json::object toJson(const CollectionReport& report)
{
    json::array kinds;
    for (const CollectedKind& kind : report.kinds)
        kinds.push_back(json::object{{"kind", kind.kind},
                                     {"count", kind.count},
                                     {"size_bytes", kind.bytes},
                                     {"complete", kind.complete},
                                     {"problem", textOrNull(kind.problem)}});
    return {{"dry_run", report.dryRun},
            {"complete", report.complete},
            {"started_at", timeText(report.startedAt)},
            {"ended_at", timeText(report.endedAt)},
            {"kinds", std::move(kinds)}};
}

} // namespace assay::contract
