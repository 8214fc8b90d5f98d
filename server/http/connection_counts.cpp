// SPDX-License-Identifier: Apache-2.0
#include "server/http/connection_counts.h"

namespace assay::http {

ConnectionCounts::Verdict ConnectionCounts::add(const std::string& peer)
{
    const std::scoped_lock lock(m_mutex);
    if (m_total >= m_limit)
        return Verdict::TooMany;
    if (!peer.empty()) {
        std::size_t& count = m_perPeer[peer];
        if (count >= m_limitPerPeer)
            return Verdict::TooManyOfPeer;
        ++count;
    }
    ++m_total;
    return Verdict::Accepted;
}

void ConnectionCounts::remove(const std::string& peer)
{
    const std::scoped_lock lock(m_mutex);
    --m_total;
    const auto found = m_perPeer.find(peer);
    if (found != m_perPeer.end() && --found->second == 0)
        m_perPeer.erase(found);
}

} // namespace assay::http
