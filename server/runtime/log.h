// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace spdlog {
class logger;
}

namespace assay::runtime {

enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error };

/// "debug", "info", "warning", "error"; anything else is Info.
LogLevel logLevelNamed(std::string_view name);

/// A line for people, or one JSON object a line for programs.
enum class LogFormat : std::uint8_t { Text, Json };

/// What a line is about, besides its text; empty members are left out. `request` is the one that the thread handles
/// when it is not given.
struct LogFields
{
    std::string_view request; ///< "req_..."
    std::string_view run;     ///< "run_..."
    std::string_view method;
    std::string_view route; ///< a template, never a path
    int status = 0;
    std::optional<std::chrono::microseconds> took;
};

/// The log of the process: one event a line on standard error, with time in UTC, level, text and fields
/// (docs/operations.md). Control characters and bytes that are not UTF-8 are escaped, so that no event can forge a
/// line; a text is cut at 4 KiB. Callers pass no secret and no raw scope. Thread-safe.
class Log
{
public:
    explicit Log(LogLevel least, LogFormat format = LogFormat::Text);
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    bool writes(LogLevel level) const;
    void write(LogLevel level, std::string_view text, const LogFields& fields = {});

private:
    std::unique_ptr<spdlog::logger> m_logger;
    const LogFormat m_format;
};

/// What `Log::write` makes of a text.
std::string logLine(std::string_view text);

/// The whole line without its line feed.
std::string logRecord(LogFormat format, LogLevel level, Timestamp time, std::string_view text, const LogFields& fields);

} // namespace assay::runtime
