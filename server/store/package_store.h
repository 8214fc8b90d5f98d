// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/digest.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

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

    /// Removes a bundle; succeeds when it is not there.
    virtual Result<void> remove(std::string_view scopeFingerprint, const Digest& digest) = 0;

    /// For a store that keeps its bundles in `database` itself: puts within the caller's write transaction, so that
    /// bundle and catalog row become durable together. Null for a store that lives elsewhere.
    virtual TransactionalPut* within(const Database& /*database*/) { return nullptr; }
};

} // namespace assay::store
