// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace assay::http {

/// Token buckets by key, at most `kMaxKeys` of them: the one that was used longest ago makes room. Thread-safe.
class RateLimiter
{
public:
    using TimePoint = std::chrono::steady_clock::time_point;
    static constexpr std::size_t kMaxKeys = 10'000;

    /// `perSecond` <= 0: everything passes. `burst` is at least 1.
    RateLimiter(double perSecond, double burst);

    /// Takes one from the key's bucket; otherwise how long to wait until it has one again.
    std::chrono::milliseconds take(std::string_view key, TimePoint now);
    bool isEnabled() const { return m_perSecond > 0; }

private:
    struct Bucket
    {
        std::string key;
        double level = 0;
        TimePoint at;
    };
    Bucket& bucketOf(std::string_view key, TimePoint now);

    const double m_perSecond;
    const double m_burst;
    std::mutex m_mutex;
    std::list<Bucket> m_buckets; ///< used last, first
    std::unordered_map<std::string_view, std::list<Bucket>::iterator> m_index;
};

} // namespace assay::http
