// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace assay {

/// What services count (R17). A closed set: no name, path or scope can become a label.
enum class Count : std::uint8_t {
    PublishFailed,
    DigestMismatch,
    CacheHit,
    CacheMiss,
    BoxRemoved,
    CleanupFailed,
    CrossScopeDenied,
};

/// The port that services call to be measured; the composition root plugs in what exports it. Thread-safe, never blocks
/// for long, never throws.
class Metrics
{
public:
    virtual ~Metrics() = default;
    virtual void add(Count what, std::uint64_t by) = 0;
    /// One materialization of packages into a box.
    virtual void materialized(std::chrono::nanoseconds took, std::uint64_t bytes) = 0;
};

} // namespace assay
