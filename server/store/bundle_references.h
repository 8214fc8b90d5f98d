// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/bundle_table.h"
#include "server/store/expired_rows.h"

namespace assay::store {

/// Which bundles the rows name: packages by revisions and by the manifests of runs, artifacts' bytes by artifacts.
/// Confined to its connection.
class BundleReferences
{
public:
    BundleReferences(Connection& connection, BundleKind kind) : m_connection(connection), m_kind(kind) {}

    /// Whether a row names the bundle, other than rows that are expired by `cutoffs` (default: any row).
    Result<bool> has(const BundleKey& key, const Cutoffs& cutoffs = {});
    /// The named bundles of every scope, each once, in the order of keys, after `after` (null: from the first).
    Result<std::vector<BundleKey>> list(const BundleKey* after, std::uint32_t limit);

private:
    Connection& m_connection;
    BundleKind m_kind;
};

} // namespace assay::store
