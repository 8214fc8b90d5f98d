// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace assay {

/// What services count (R17). A closed set: no name, path or scope can become a label.
enum class Count : std::uint8_t {
    DigestMismatch,
    BoxStarted,
    BoxRemoved,
    CleanupFailed,
};

/// The port that services call to be measured; the composition root plugs in what exports it. Every text comes from a
/// closed set: never a name, an id, a path or a scope. Thread-safe, never blocks for long, never throws. What an
/// implementation does not export it drops.
class Metrics
{
public:
    virtual ~Metrics() = default;
    virtual void add(Count what, std::uint64_t by) = 0;
    /// One publish. `outcome`: "created", "revised" or "unchanged"; a failure is the code of its error, for an invalid
    /// package that of its first finding.
    enum class Publish : std::uint8_t { Done, Failed };
    virtual void published(Publish /*how*/, std::string_view /*outcome*/) {}
    /// Package trees of one run that were there already, and that had to be made; `backend` is the package store's
    /// kind.
    virtual void cached(std::string_view /*backend*/, std::uint64_t /*hits*/, std::uint64_t /*misses*/) {}
    /// One materialization of packages into a box.
    virtual void materialized(std::chrono::nanoseconds took, std::uint64_t bytes) = 0;
    /// One command in a box; `termination` as the API names it.
    virtual void commandEnded(std::chrono::milliseconds /*took*/, std::string_view /*termination*/) {}
    /// One run; `state` is its last.
    virtual void runEnded(std::string_view /*state*/) {}
    /// A request turned away: "token", "role" or "scope_header" (who tried to name a scope where only a token may).
    virtual void denied(std::string_view /*reason*/) {}
    /// What a collection removed of one kind, and the collection.
    virtual void collected(std::string_view /*kind*/, std::uint64_t /*count*/, std::uint64_t /*bytes*/) {}
    virtual void collection(std::chrono::nanoseconds /*took*/, bool /*complete*/) {}
};

} // namespace assay
