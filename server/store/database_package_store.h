// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/bundle_table.h"
#include "server/store/database.h"
#include "server/store/package_store.h"

namespace assay::store {

/// Bundles in the server's own database. Storing over a damaged copy repairs it. Thread-safe.
class DatabasePackageStore final : public SkillPackageStore, private TransactionalPut
{
public:
    DatabasePackageStore(Database& database, BundleKind kind) : m_database(database), m_kind(kind) {}

    std::string identity() const override { return "database"; }
    Result<void> put(std::string_view scopeFingerprint, const Digest& digest,
                     std::span<const std::string_view> pieces) override;
    Result<void> read(std::string_view scopeFingerprint, const Digest& digest, const PieceSink& each) override;
    Result<Bundle> fetch(std::string_view scopeFingerprint, const Digest& digest) override;
    Result<void> remove(std::string_view scopeFingerprint, const Digest& digest) override;
    Result<std::vector<StoredBundle>> list(const BundleKey* after, std::uint32_t limit) override;
    TransactionalPut* within(const Database& database) override;

protected:
    Result<bool> removeIn(Connection& connection, const BundleKey& key, Timestamp putBefore) override;

private:
    Result<void> put(Connection& connection, std::string_view scopeFingerprint, const Digest& digest,
                     std::span<const std::string_view> pieces) override;

    Database& m_database;
    BundleKind m_kind;
};

} // namespace assay::store
