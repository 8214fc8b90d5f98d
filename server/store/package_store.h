// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/bundle_holds.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::store {

/// A package bundle (the canonical stream) whose bytes were hashed and found equal to its digest when it was read.
class Bundle
{
public:
    Bundle(std::string_view bytes, std::shared_ptr<const void> storage) : m_bytes(bytes), m_storage(std::move(storage))
    {}
    std::string_view bytes() const { return m_bytes; }
    const std::shared_ptr<const void>& storage() const { return m_storage; }

private:
    std::string_view m_bytes;
    std::shared_ptr<const void> m_storage;
};

/// Takes consecutive pieces of a bundle; a piece is valid during the call.
using PieceSink = std::function<Result<void>(std::string_view piece)>;

class Connection;
class Database;

/// `SkillPackageStore::put` inside a write job of the database. Confined to the job.
class TransactionalPut
{
public:
    virtual ~TransactionalPut() = default;
    virtual Result<void> put(Connection& connection, std::string_view scopeFingerprint, const Digest& digest,
                             std::span<const std::string_view> pieces) = 0;
};

/// A bundle by its key; the order of `SkillPackageStore::list`.
struct BundleKey
{
    std::string scopeFingerprint;
    Digest digest;
    auto operator<=>(const BundleKey&) const = default;
};

/// A bundle that a store holds.
struct StoredBundle
{
    BundleKey key;
    std::uint64_t sizeBytes = 0;
};

/// How much was removed, or would be.
struct Removed
{
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

/// Whether a removal only counts what it would remove.
enum class Removal : std::uint8_t { CountOnly, Real };

/// Where bundles live; chosen by the operator only, never by a request. Every key holds the scope's fingerprint, so a
/// digest of another scope is simply not there. Thread-safe; calls block.
class SkillPackageStore
{
public:
    virtual ~SkillPackageStore() = default;

    /// "database", "filesystem" or "s3", with what tells two of a kind apart: part of every cache key (R12).
    virtual std::string identity() const = 0;

    /// Stores the concatenation of `pieces`, whose digest the caller has computed; durable on return. Storing what is
    /// there already succeeds. `Unavailable` when the disk is full.
    virtual Result<void> put(std::string_view scopeFingerprint, const Digest& digest,
                             std::span<const std::string_view> pieces) = 0;

    /// Reads and re-hashes. `NotFound` when missing, `Internal` with reason `digest_mismatch` when the bytes differ:
    /// they are never handed out.
    virtual Result<Bundle> fetch(std::string_view scopeFingerprint, const Digest& digest) = 0;

    /// `fetch` in pieces of at most a few MiB, handed on while they are read and hashed. What `each` took proves to be
    /// the bundle only by the success of this call: after an error of any kind it must be thrown away. Errors of `each`
    /// end the reading and are passed on. `each` runs on the calling thread and must not call back into the store.
    virtual Result<void> read(std::string_view scopeFingerprint, const Digest& digest, const PieceSink& each)
    {
        auto bundle = fetch(scopeFingerprint, digest);
        return bundle ? each(bundle->bytes()) : Result<void>(forward(bundle));
    }

    /// Removes a bundle; succeeds when it is not there.
    virtual Result<void> remove(std::string_view scopeFingerprint, const Digest& digest) = 0;

    /// What is there, in the order of keys, after `after` (null: from the first), at most `limit`. Names that are no
    /// bundle's are passed over.
    virtual Result<std::vector<StoredBundle>> list(const BundleKey* after, std::uint32_t limit) = 0;

    /// To be taken before a put whose row is committed later, and kept until then: no collection takes the bundle.
    [[nodiscard]] BundleHolds::Hold hold(std::string_view scopeFingerprint, const Digest& digest)
    {
        return m_holds.hold(scopeFingerprint, digest);
    }

    /// For the collector, inside a write job of the database that has just seen that no row names the bundle: removes
    /// it, unless it is held, or (where the store knows) was put at or after `putBefore`. False when it stays or is not
    /// there. Does not sync: what a crash brings back is garbage again.
    Result<bool> removeGarbage(Connection& connection, const BundleKey& key, Timestamp putBefore)
    {
        return m_holds.removeUnlessHeld(key.scopeFingerprint, key.digest,
                                        [&] { return removeIn(connection, key, putBefore); });
    }

    /// Removes (or counts) what interrupted puts left and was last written before `writtenBefore`.
    virtual Result<Removed> removeLeftovers(Timestamp /*writtenBefore*/, Removal /*removal*/) { return Removed{}; }

    /// For a store that keeps its bundles in `database` itself: puts within the caller's write transaction, so that
    /// bundle and catalog row become durable together. Null for a store that lives elsewhere.
    virtual TransactionalPut* within(const Database& /*database*/) { return nullptr; }

protected:
    /// `removeGarbage` once it is known that nobody holds the bundle.
    virtual Result<bool> removeIn(Connection& connection, const BundleKey& key, Timestamp putBefore) = 0;

private:
    BundleHolds m_holds;
};

} // namespace assay::store
