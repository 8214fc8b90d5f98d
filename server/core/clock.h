// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <chrono>
#include <string>
#include <string_view>

namespace assay {

/// A point of wall-clock time in UTC, to the millisecond: what is stored and shown.
using Timestamp = std::chrono::sys_time<std::chrono::milliseconds>;

/// Where time comes from; a test brings its own. Thread-safe.
class Clock
{
public:
    virtual ~Clock() = default;
    virtual Timestamp now() const = 0;
    /// For deadlines and durations; never goes back.
    virtual std::chrono::steady_clock::time_point steadyNow() const = 0;
};

/// The machine's clocks.
class SystemClock final : public Clock
{
public:
    Timestamp now() const override;
    std::chrono::steady_clock::time_point steadyNow() const override;
};

/// RFC 3339 in UTC with milliseconds: "2026-11-30T12:00:00.000Z".
std::string formatTimestamp(Timestamp time);

/// Reads RFC 3339 with any offset and fraction (cut to milliseconds); `InvalidArgument` for anything else.
Result<Timestamp> parseTimestamp(std::string_view text);

} // namespace assay
