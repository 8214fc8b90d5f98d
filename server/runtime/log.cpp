// SPDX-License-Identifier: Apache-2.0
#include "server/runtime/log.h"

#include "server/core/json.h"
#include "server/core/request_context.h"
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

std::string_view nameOf(LogLevel level)
{
    switch (level) {
    case LogLevel::Debug:
        return "debug";
    case LogLevel::Info:
        return "info";
    case LogLevel::Warning:
        return "warning";
    case LogLevel::Error:
        break;
    }
    return "error";
}

std::string jsonRecord(LogLevel level, Timestamp time, std::string_view text, const LogFields& fields)
{
    json::object out{{"time", formatTimestamp(time)}, {"level", nameOf(level)}, {"message", logLine(text)}};
    for (const auto& [name, value] : {std::pair{"request", fields.request}, std::pair{"run", fields.run},
                                      std::pair{"method", fields.method}, std::pair{"route", fields.route}})
        if (!value.empty())
            out[name] = logLine(value);
    if (fields.status != 0)
        out["status"] = fields.status;
    if (fields.took)
        out["duration_us"] = fields.took->count();
    return json::serialize(out);
}

std::string textRecord(LogLevel level, Timestamp time, std::string_view text, const LogFields& fields)
{
    std::string out = formatTimestamp(time) + " " + std::string(nameOf(level)) + " " + logLine(text);
    if (!fields.method.empty())
        out += " " + logLine(fields.method) + " " + logLine(fields.route);
    if (fields.status != 0)
        out += " " + std::to_string(fields.status);
    if (fields.took)
        out += " " + std::to_string(fields.took->count()) + "us";
    if (!fields.run.empty())
        out += " run=" + logLine(fields.run);
    if (!fields.request.empty())
        out += " request=" + logLine(fields.request);
    return out;
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

std::string logRecord(LogFormat format, LogLevel level, Timestamp time, std::string_view text, const LogFields& fields)
{
    return format == LogFormat::Json ? jsonRecord(level, time, text, fields) : textRecord(level, time, text, fields);
}

Log::Log(LogLevel least, LogFormat format)
    : m_logger(std::make_unique<spdlog::logger>("assay", std::make_shared<spdlog::sinks::stderr_sink_mt>())),
      m_format(format)
{
    m_logger->set_formatter(std::make_unique<spdlog::pattern_formatter>("%v"));
    m_logger->set_level(levelOf(least));
    m_logger->flush_on(spdlog::level::debug);
}

Log::~Log() = default;

bool Log::writes(LogLevel level) const { return m_logger->should_log(levelOf(level)); }

void Log::write(LogLevel level, std::string_view text, const LogFields& fields)
{
    if (!writes(level))
        return;
    LogFields all = fields;
    if (all.request.empty())
        all.request = RequestContext::current();
    m_logger->log(levelOf(level), spdlog::string_view_t(logRecord(m_format, level, SystemClock().now(), text, all)));
}

} // namespace assay::runtime
