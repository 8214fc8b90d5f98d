// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"
#include "server/api/replies.h"
#include "server/audit/ledger.h"
#include "server/contract/codec.h"

namespace assay::api {

Result<Reply> runCollection(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    const auto dryRun = contract::readCollect(*body);
    if (!dryRun)
        return std::unexpected(dryRun.error());
    const auto report = services.collections.collect(*dryRun ? store::Removal::CountOnly : store::Removal::Real);
    if (!report)
        return std::unexpected(report.error());
    if (!*dryRun) {
        auto record = audit::recordBy(request.by, audit::Operation::CollectionRun, audit::Decision::Executed,
                                      audit::ResourceType::Server, "");
        record.scopeFingerprint.clear(); // it is of the whole server, where operators read
        if (auto recorded = audit::Ledger(services.database, services.clock).record(record); !recorded)
            return forward(recorded);
    }
    return jsonReply(200, contract::toJson(*report));
}

} // namespace assay::api
