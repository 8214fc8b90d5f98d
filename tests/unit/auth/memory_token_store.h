// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/token_store.h"

#include <functional>
#include <map>
#include <mutex>

namespace assay::test {

/// Tokens in memory, with a count of look-ups and a hook that runs inside one.
class MemoryTokenStore final : public auth::TokenStore
{
public:
    Result<void> insert(const auth::StoredToken& token, const auth::Identity&) override
    {
        const std::lock_guard lock(m_mutex);
        m_tokens.emplace(token.id, token);
        return {};
    }
    Result<std::optional<auth::StoredToken>> findBySecretHash(const Digest& secretHash) override
    {
        std::optional<auth::StoredToken> found;
        {
            const std::lock_guard lock(m_mutex);
            ++lookUps;
            for (const auto& [id, token] : m_tokens)
                if (token.secretHash == secretHash)
                    found = token;
        }
        if (duringLookUp)
            std::exchange(duringLookUp, {})();
        return found;
    }
    Result<std::optional<auth::StoredToken>> find(std::string_view id) override
    {
        const std::lock_guard lock(m_mutex);
        const auto found = m_tokens.find(id);
        return found == m_tokens.end() ? std::nullopt : std::optional(found->second);
    }
    Result<std::vector<auth::StoredToken>> list(std::string_view afterId, std::uint32_t limit) override
    {
        const std::lock_guard lock(m_mutex);
        std::vector<auth::StoredToken> out;
        for (auto at = m_tokens.upper_bound(afterId); at != m_tokens.end() && out.size() < limit; ++at)
            out.push_back(at->second);
        return out;
    }
    Result<bool> revoke(std::string_view id, Timestamp now, const auth::Identity&) override
    {
        const std::lock_guard lock(m_mutex);
        const auto found = m_tokens.find(id);
        if (found == m_tokens.end())
            return false;
        if (!found->second.revokedAt)
            found->second.revokedAt = now;
        return true;
    }

    int lookUps = 0;
    std::function<void()> duringLookUp;

private:
    std::mutex m_mutex;
    std::map<std::string, auth::StoredToken, std::less<>> m_tokens;
};

} // namespace assay::test
