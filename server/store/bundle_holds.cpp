// SPDX-License-Identifier: Apache-2.0
#include "server/store/bundle_holds.h"

namespace assay::store {

BundleHolds::Hold& BundleHolds::Hold::operator=(Hold&& other) noexcept
{
    if (this != &other) {
        release();
        m_owner = std::exchange(other.m_owner, nullptr);
        m_key = std::move(other.m_key);
    }
    return *this;
}

void BundleHolds::Hold::release()
{
    if (m_owner == nullptr)
        return;
    const std::scoped_lock lock(m_owner->m_mutex);
    const auto found = m_owner->m_held.find(m_key);
    if (--found->second == 0)
        m_owner->m_held.erase(found);
    m_owner = nullptr;
}

BundleHolds::Hold BundleHolds::hold(std::string_view scopeFingerprint, const Digest& digest)
{
    Hold::Key key{std::string(scopeFingerprint), digest};
    const std::scoped_lock lock(m_mutex);
    ++m_held[key];
    return {*this, std::move(key)};
}

Result<bool> BundleHolds::removeUnlessHeld(std::string_view scopeFingerprint, const Digest& digest,
                                           const std::function<Result<bool>()>& remove)
{
    const std::scoped_lock lock(m_mutex);
    if (m_held.contains({std::string(scopeFingerprint), digest}))
        return false;
    return remove();
}

} // namespace assay::store
