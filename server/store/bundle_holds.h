// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/digest.h"

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace assay::store {

/// The bundles that somebody has put, or is about to, and that no committed row names yet: the collector leaves them
/// alone. One object for each store; thread-safe; outlives its holds. Does not: survive the process. It need not, for
/// what a killed server had put without a row is garbage.
class BundleHolds
{
public:
    /// Keeps one bundle while it is alive. Taken before the put, kept until the row that names it is committed.
    class Hold
    {
    public:
        Hold() = default;
        Hold(Hold&& other) noexcept : m_owner(std::exchange(other.m_owner, nullptr)), m_key(std::move(other.m_key)) {}
        Hold& operator=(Hold&& other) noexcept;
        ~Hold() { release(); }

    private:
        friend class BundleHolds;
        using Key = std::pair<std::string, Digest>;
        Hold(BundleHolds& owner, Key key) : m_owner(&owner), m_key(std::move(key)) {}
        void release();

        BundleHolds* m_owner = nullptr;
        Key m_key;
    };

    BundleHolds() = default;
    BundleHolds(const BundleHolds&) = delete;
    BundleHolds& operator=(const BundleHolds&) = delete;

    /// Waits while this bundle is being removed, which takes no longer than a file's unlink or a few rows' deletion.
    [[nodiscard]] Hold hold(std::string_view scopeFingerprint, const Digest& digest);

    /// Calls `remove` unless the bundle is held; no hold begins before it has returned. False when it is held.
    Result<bool> removeUnlessHeld(std::string_view scopeFingerprint, const Digest& digest,
                                  const std::function<Result<bool>()>& remove);

private:
    std::mutex m_mutex;
    std::map<Hold::Key, unsigned> m_held;
};

} // namespace assay::store
