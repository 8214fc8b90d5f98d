// SPDX-License-Identifier: Apache-2.0
#include "server/http/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace assay::http {

RateLimiter::RateLimiter(double perSecond, double burst)
    : m_perSecond(std::isfinite(perSecond) ? perSecond : 0), m_burst(std::isfinite(burst) ? std::max(burst, 1.0) : 1.0)
{}

RateLimiter::Bucket& RateLimiter::bucketOf(std::string_view key, TimePoint now)
{
    if (const auto found = m_index.find(key); found != m_index.end()) {
        m_buckets.splice(m_buckets.begin(), m_buckets, found->second);
        return m_buckets.front();
    }
    if (m_buckets.size() == kMaxKeys) {
        m_index.erase(m_buckets.back().key);
        m_buckets.pop_back();
    }
    m_buckets.push_front({std::string(key), m_burst, now});
    m_index.emplace(m_buckets.front().key, m_buckets.begin());
    return m_buckets.front();
}

std::chrono::milliseconds RateLimiter::take(std::string_view key, TimePoint now)
{
    if (!isEnabled())
        return {};
    const std::scoped_lock lock(m_mutex);
    Bucket& bucket = bucketOf(key, now);
    const double seconds = std::chrono::duration<double>(now - bucket.at).count();
    bucket.level = std::min(m_burst, bucket.level + std::max(seconds, 0.0) * m_perSecond);
    bucket.at = now;
    if (bucket.level >= 1) {
        bucket.level -= 1;
        return {};
    }
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil((1 - bucket.level) / m_perSecond * 1000)));
}

} // namespace assay::http
