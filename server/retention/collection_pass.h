// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/retention/collection_service.h"
#include "server/retention/row_kinds.h"
#include "server/store/bundle_references.h"

#include <array>
#include <functional>
#include <string>

namespace assay::retention {

/// One collection from its first kind to its last. Used once, on one thread.
class CollectionPass
{
public:
    struct Parts
    {
        store::Database& database;
        const std::vector<CollectedStores>& stores;
        TreeSweeper* trees;
        const Clock& clock;
        const CollectionSettings& settings;
    };

    /// Ends early once one of `stops` is requested.
    CollectionPass(const Parts& parts, store::Removal removal, std::array<std::stop_token, 2> stops);

    contract::CollectionReport run();

private:
    bool isReal() const { return m_removal == store::Removal::Real; }
    bool isOver() const;
    void step(std::string_view kind, const std::function<Result<bool>()>& work);
    Result<bool> rowsOfEveryScope(std::string_view kind, RowKindOf kindOf);
    Result<bool> rowsOfScope(const RowKind& kind);
    Result<bool> removeRows(const RowKind& kind, const std::vector<store::ExpiredRow>& rows);
    Result<bool> bundles(std::string_view kind, store::BundleKind table);
    Result<bool> bundlesOf(store::SkillPackageStore& store, store::BundleKind table, const std::string& cursorName);
    Result<std::vector<store::StoredBundle>> unnamed(const std::vector<store::StoredBundle>& listed,
                                                     store::BundleKind table);
    Result<void> removeBundles(store::SkillPackageStore& store, store::BundleKind table,
                               const std::vector<store::StoredBundle>& bundles);
    Result<bool> removeUnnamed(store::Connection& connection, store::SkillPackageStore& store, store::BundleKind table,
                               const store::BundleKey& key);
    Result<bool> keptAnswers();
    Result<bool> leftovers();
    Result<bool> trees();

    Result<store::Cutoffs> cutoffsOf(const std::string& scope);
    Result<std::string> cursor(const std::string& name);
    Result<void> saveCursor(const std::string& name, std::string_view value);
    void add(std::uint64_t count, std::uint64_t bytes);

    const Parts m_parts;
    const store::Removal m_removal;
    const std::array<std::stop_token, 2> m_stops;
    const Timestamp m_now;
    contract::CollectionReport m_report;
    std::chrono::steady_clock::time_point m_stepEnd;
    std::string m_cutoffScope; ///< whose `m_cutoffs` these are
    store::Cutoffs m_cutoffs;
};

} // namespace assay::retention
