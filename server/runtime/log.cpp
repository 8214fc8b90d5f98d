// SPDX-License-Identifier: Apache-2.0
#include "server/runtime/log.h"

#include "server/core/text.h"

#include <format>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace assay::runtime {

namespace {

constexpr std::size_t kMaxLineBytes = 4096;

spdlog::level::level_enum levelOf(LogLevel level)
{
    switch (level) {
    case LogLevel::Debug:
        return spdlog::level::debug;
    case LogLevel::Info:
        return spdlog::level::info;
    case LogLevel::Warning:
        return spdlog::level::warn;
    case LogLevel::Error:
        break;
    }
    return spdlog::level::err;
}

bool isControl(char32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x2028 || point == 0x2029 || point == 0xfffd;
}

} // namespace

LogLevel logLevelNamed(std::string_view name)
{
    if (name == "debug")
        return LogLevel::Debug;
    if (name == "warning")
        return LogLevel::Warning;
    return name == "error" ? LogLevel::Error : LogLevel::Info;
}

std::string logLine(std::string_view text)
{
    std::string out;
    while (!text.empty() && out.size() < kMaxLineBytes) {
        const char first = text.front();
        const char32_t point = takeCodePoint(text);
        if (isControl(point))
            out += point == 0xfffd ? std::format("\\x{:02x}", static_cast<unsigned char>(first))
                                   : std::format("\\u{:04x}", static_cast<unsigned>(point));
        else
            appendUtf8(out, point);
    }
    return text.empty() ? out : out + "...";
}

Log::Log(LogLevel least)
    : m_logger(std::make_unique<spdlog::logger>("assay", std::make_shared<spdlog::sinks::stderr_sink_mt>()))
{
    m_logger->set_formatter(
        std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc));
    m_logger->set_level(levelOf(least));
    m_logger->flush_on(spdlog::level::debug);
}

Log::~Log() = default;

void Log::write(LogLevel level, std::string_view text)
{
    if (m_logger->should_log(levelOf(level)))
        m_logger->log(levelOf(level), spdlog::string_view_t(logLine(text)));
}

} // namespace assay::runtime
