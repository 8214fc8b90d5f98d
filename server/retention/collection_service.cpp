// SPDX-License-Identifier: Apache-2.0
#include "server/retention/collection_service.h"

#include "server/retention/collection_pass.h"

namespace assay::retention {

CollectionService::CollectionService(store::Database& database, std::vector<CollectedStores> stores, TreeSweeper* trees,
                                     const Clock& clock, CollectionSettings settings, Metrics* metrics)
    : m_database(database),
      m_stores(std::move(stores)),
      m_trees(trees),
      m_clock(clock),
      m_settings(settings),
      m_metrics(metrics)
{}

Result<contract::CollectionReport> CollectionService::collect(store::Removal removal, std::stop_token stop)
{
    const std::unique_lock turn(m_turn, std::try_to_lock);
    if (!turn)
        return fail(ErrorCode::Conflict, "a collection is running; ask again when it has ended");
    const auto begin = std::chrono::steady_clock::now();
    CollectionPass pass({m_database, m_stores, m_trees, m_clock, m_settings}, removal,
                        {m_stop.get_token(), std::move(stop)});
    auto report = pass.run();
    if (m_metrics && removal == store::Removal::Real) {
        for (const auto& kind : report.kinds)
            m_metrics->collected(kind.kind, kind.count, kind.bytes);
        m_metrics->collection(std::chrono::steady_clock::now() - begin, report.complete);
    }
    return report;
}

} // namespace assay::retention
