// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/unique_fd.h"
#include "server/store/package_store.h"

#include <filesystem>
#include <mutex>
#include <unordered_set>

namespace assay::store {

/// Bundles as files below one root folder: `<fingerprint>/<first two hex digits>/<hex>`, each written under a temporary
/// name, synced, and renamed; no link is followed below the root. Storing over a damaged file repairs it. Layout:
/// docs/storage.md. Thread-safe; one server at a time owns the root.
class FilesystemPackageStore final : public SkillPackageStore
{
public:
    /// Makes the root when it is missing and removes what an interrupted put left. `Unavailable` when it cannot be
    /// written.
    static Result<std::unique_ptr<SkillPackageStore>> open(const std::filesystem::path& root);

    std::string identity() const override { return m_identity; }
    Result<void> put(std::string_view scopeFingerprint, const Digest& digest,
                     std::span<const std::string_view> pieces) override;
    Result<Bundle> fetch(std::string_view scopeFingerprint, const Digest& digest) override;
    Result<void> remove(std::string_view scopeFingerprint, const Digest& digest) override;

private:
    FilesystemPackageStore(UniqueFd root, UniqueFd temporary, std::string identity)
        : m_root(std::move(root)), m_temporary(std::move(temporary)), m_identity(std::move(identity))
    {}
    Result<UniqueFd> makeFolder(int parent, const std::string& name, const std::string& path);
    Result<UniqueFd> makeShard(std::string_view scopeFingerprint, const Digest& digest);
    Result<UniqueFd> openShard(std::string_view scopeFingerprint, const Digest& digest) const;
    Result<void> writeTemporary(const std::string& name, std::span<const std::string_view> pieces);

    UniqueFd m_root;
    UniqueFd m_temporary;
    std::string m_identity;
    std::mutex m_mutex;
    std::unordered_set<std::string> m_durable; ///< folders whose names are known to be on the disk; bounded
};

} // namespace assay::store
