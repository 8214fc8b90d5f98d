// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/digest.h"
#include "server/store/connection.h"
#include "server/store/package_store.h"

#include <span>
#include <vector>

namespace assay::store {

/// Which table holds the bytes.
enum class BundleKind : std::uint8_t { Package, Artifact };

/// The SQL of the tables `bundles` and `artifact_bundles`: bytes by scope and digest, in parts of `kPartBytes`, so that
/// no row is large. Confined to its connection.
class BundleTable
{
public:
    BundleTable(Connection& connection, BundleKind kind) : m_connection(connection), m_kind(kind) {}

    /// Writes the concatenation of `pieces`. False when the digest is there already, which stays as it is.
    Result<bool> put(std::string_view fingerprint, const Digest& digest, std::span<const std::string_view> pieces);
    /// The bytes as stored, not verified; empty when there is no such row.
    Result<std::optional<std::string>> find(std::string_view fingerprint, const Digest& digest);
    /// The same in the parts as stored, each valid during its call. False when there is no such row; passes on `each`'s
    /// error.
    Result<bool> forEachPart(std::string_view fingerprint, const Digest& digest, const PieceSink& each);
    /// True when it was there.
    Result<bool> remove(std::string_view fingerprint, const Digest& digest);
    /// In the order of keys, after `after` (null: from the first), at most `limit`, of every scope: for the collector.
    Result<std::vector<StoredBundle>> list(const BundleKey* after, std::uint32_t limit);

    static constexpr std::size_t kPartBytes = 1U << 20;

private:
    Result<bool> putPart(std::string_view fingerprint, const Digest& digest, std::int64_t part, std::size_t sizeBytes,
                         std::string_view bytes);

    Connection& m_connection;
    BundleKind m_kind;
};

} // namespace assay::store
