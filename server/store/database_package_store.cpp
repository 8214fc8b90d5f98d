// SPDX-License-Identifier: Apache-2.0
#include "server/store/database_package_store.h"

#include "server/store/verified_bundle.h"
#include "server/store/verified_hand_out.h"

namespace assay::store {

Result<void> DatabasePackageStore::put(std::string_view scopeFingerprint, const Digest& digest,
                                       std::span<const std::string_view> pieces)
{
    return m_database.write([&](Connection& connection) { return put(connection, scopeFingerprint, digest, pieces); });
}

Result<void> DatabasePackageStore::put(Connection& connection, std::string_view scopeFingerprint, const Digest& digest,
                                       std::span<const std::string_view> pieces)
{
    BundleTable table(connection, m_kind);
    auto isNew = table.put(scopeFingerprint, digest, pieces);
    if (!isNew)
        return forward(isNew);
    if (*isNew)
        return {};
    auto stored = table.find(scopeFingerprint, digest);
    if (!stored)
        return forward(stored);
    if (*stored && Digest::ofBytes(**stored) == digest)
        return {};
    if (auto removed = table.remove(scopeFingerprint, digest); !removed)
        return forward(removed);
    isNew = table.put(scopeFingerprint, digest, pieces);
    return isNew ? Result<void>{} : Result<void>(forward(isNew));
}

Result<Bundle> DatabasePackageStore::fetch(std::string_view scopeFingerprint, const Digest& digest)
{
    auto bytes = m_database.read(
        [&](Connection& connection) { return BundleTable(connection, m_kind).find(scopeFingerprint, digest); });
    if (!bytes)
        return forward(bytes);
    if (!*bytes)
        return failMissingBundle(digest);
    return verifyBundle(std::move(**bytes), digest);
}

Result<void> DatabasePackageStore::read(std::string_view scopeFingerprint, const Digest& digest, const PieceSink& each)
{
    VerifiedHandOut handOut(each);
    const auto found = m_database.read([&](Connection& connection) {
        return BundleTable(connection, m_kind).forEachPart(scopeFingerprint, digest, [&](std::string_view part) {
            return handOut.add(part);
        });
    });
    if (!found)
        return std::unexpected(found.error());
    return *found ? handOut.finish(digest) : Result<void>(failMissingBundle(digest));
}

Result<void> DatabasePackageStore::remove(std::string_view scopeFingerprint, const Digest& digest)
{
    auto removed = m_database.write(
        [&](Connection& connection) { return BundleTable(connection, m_kind).remove(scopeFingerprint, digest); });
    return removed ? Result<void>{} : Result<void>(forward(removed));
}

Result<std::vector<StoredBundle>> DatabasePackageStore::list(const BundleKey* after, std::uint32_t limit)
{
    return m_database.read([&](Connection& connection) { return BundleTable(connection, m_kind).list(after, limit); });
}

// Rows have no age, and need none: a package and its catalog row are one transaction, an artifact's bytes are held.
Result<bool> DatabasePackageStore::removeIn(Connection& connection, const BundleKey& key, Timestamp /*putBefore*/)
{
    return BundleTable(connection, m_kind).remove(key.scopeFingerprint, key.digest);
}

TransactionalPut* DatabasePackageStore::within(const Database& database)
{
    return &database == &m_database ? this : nullptr;
}

} // namespace assay::store
