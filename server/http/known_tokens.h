// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace assay::http {

/// Hashes of the tokens that were admitted lately, at most `kMaxTokens`: such a token has a rate of its own, everything
/// else draws on its peer's, so that made-up tokens gain nothing. It admits nobody. Thread-safe.
class KnownTokens
{
public:
    static constexpr std::size_t kMaxTokens = 10'000;

    bool contains(std::string_view hash);
    void remember(std::string_view hash);
    void forget(std::string_view hash);

private:
    std::mutex m_mutex;
    std::list<std::string> m_order; ///< used last, first
    std::unordered_map<std::string_view, std::list<std::string>::iterator> m_index;
};

} // namespace assay::http
