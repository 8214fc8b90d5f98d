// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/runs/catalog_port.h"
#include "server/runs/run_plan.h"
#include "server/runs/tree_cache.h"

#include <vector>

namespace assay::runs {

/// Brings exactly a plan's packages to where a box driver can take them from. Thread-safe.
class Materializer
{
public:
    Materializer(CatalogPort& catalog, TreeCache& cache) : m_catalog(catalog), m_cache(cache) {}

    /// The trees of a plan, held for the life of this object.
    struct Trees
    {
        std::vector<sandbox::PinnedPackage> packages;
        std::vector<TreeLease> leases; ///< in the order of `packages`
        std::uint64_t bytes = 0;       ///< extracted now; 0 when all was in the cache
        bool allHits = true;
    };

    /// `Refused` with `package_store_unavailable` (after three tries), `digest_mismatch` or `materialization_failed`.
    Result<Trees> materialize(const RunPlan& plan);

    /// Forgets a plan's trees: a box saw something else in them than the manifest pins.
    void distrust(const RunPlan& plan);

    /// The first four bytes of a materialized file, or fewer.
    static std::string firstBytes(const Trees& trees, std::string_view skill, std::string_view path);

private:
    Result<TreeLease> acquire(const RunPlan& plan, const registry::PinnedSkill& skill);

    CatalogPort& m_catalog;
    TreeCache& m_cache;
};

} // namespace assay::runs
