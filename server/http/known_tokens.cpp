// SPDX-License-Identifier: Apache-2.0
#include "server/http/known_tokens.h"

namespace assay::http {

bool KnownTokens::contains(std::string_view hash)
{
    const std::scoped_lock lock(m_mutex);
    const auto found = m_index.find(hash);
    if (found == m_index.end())
        return false;
    m_order.splice(m_order.begin(), m_order, found->second);
    return true;
}

void KnownTokens::remember(std::string_view hash)
{
    const std::scoped_lock lock(m_mutex);
    if (m_index.contains(hash))
        return;
    if (m_order.size() == kMaxTokens) {
        m_index.erase(m_order.back());
        m_order.pop_back();
    }
    m_order.emplace_front(hash);
    m_index.emplace(m_order.front(), m_order.begin());
}

void KnownTokens::forget(std::string_view hash)
{
    const std::scoped_lock lock(m_mutex);
    const auto found = m_index.find(hash);
    if (found == m_index.end())
        return;
    const auto entry = found->second;
    m_index.erase(found);
    m_order.erase(entry);
}

} // namespace assay::http
