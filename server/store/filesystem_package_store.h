// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/unique_fd.h"
#include "server/store/package_store.h"

#include <filesystem>
#include <mutex>
#include <unordered_set>

namespace assay::store {

/// Who opens a root. Only the server that owns it may remove what an interrupted put left; the copying beside it may
/// not.
enum class RootUse : std::uint8_t { Owner, BesideOwner };

/// Bundles as files below one root folder: `<fingerprint>/<first two hex digits>/<hex>`, each written under a temporary
/// name, synced, and renamed; no link is followed below the root. Storing over a damaged file repairs it. Layout:
/// docs/storage.md. Thread-safe; one server at a time owns the root.
class FilesystemPackageStore final : public SkillPackageStore
{
public:
    /// Makes the root when it is missing and, as its owner, removes what an interrupted put left. `Unavailable` when it
    /// cannot be written.
    static Result<std::unique_ptr<SkillPackageStore>> open(const std::filesystem::path& root,
                                                           RootUse use = RootUse::Owner);

    std::string identity() const override { return m_identity; }
    Result<void> put(std::string_view scopeFingerprint, const Digest& digest,
                     std::span<const std::string_view> pieces) override;
    Result<void> read(std::string_view scopeFingerprint, const Digest& digest, const PieceSink& each) override;
    Result<Bundle> fetch(std::string_view scopeFingerprint, const Digest& digest) override;
    Result<void> remove(std::string_view scopeFingerprint, const Digest& digest) override;
    Result<std::vector<StoredBundle>> list(const BundleKey* after, std::uint32_t limit) override;
    Result<Removed> removeLeftovers(Timestamp writtenBefore, Removal removal) override;

protected:
    Result<bool> removeIn(Connection& connection, const BundleKey& key, Timestamp putBefore) override;

private:
    FilesystemPackageStore(UniqueFd root, UniqueFd temporary, std::string identity)
        : m_root(std::move(root)), m_temporary(std::move(temporary)), m_identity(std::move(identity))
    {}
    Result<UniqueFd> makeFolder(int parent, const std::string& name, const std::string& path);
    Result<UniqueFd> makeShard(std::string_view scopeFingerprint, const Digest& digest);
    Result<UniqueFd> openShard(std::string_view scopeFingerprint, const Digest& digest) const;
    Result<void> writeTemporary(const std::string& name, std::span<const std::string_view> pieces);
    Result<void> placeNew(int shard, const Digest& digest, std::span<const std::string_view> pieces);

    UniqueFd m_root;
    UniqueFd m_temporary;
    std::string m_identity;
    std::mutex m_mutex;
    std::unordered_set<std::string> m_durable; ///< folders whose names are known to be on the disk; bounded
    std::unordered_set<std::string> m_writing; ///< temporary files of puts in progress
};

} // namespace assay::store
