// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace spdlog {
class logger;
}

namespace assay::runtime {

enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error };

/// "debug", "info", "warning", "error"; anything else is Info.
LogLevel logLevelNamed(std::string_view name);

/// The log of the process: one event a line on standard error, with time in UTC, level and text. Control characters
/// and bytes that are not UTF-8 are escaped, so that no event can forge a line; a line is cut at 4 KiB. Callers pass no
/// secret and no raw scope. Thread-safe.
class Log
{
public:
    explicit Log(LogLevel least);
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    void write(LogLevel level, std::string_view text);

private:
    std::unique_ptr<spdlog::logger> m_logger;
};

/// What `Log::write` makes of a text.
std::string logLine(std::string_view text);

} // namespace assay::runtime
