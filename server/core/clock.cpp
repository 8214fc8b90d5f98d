// SPDX-License-Identifier: Apache-2.0
#include "server/core/clock.h"

#include <charconv>
#include <cstdio>

namespace assay {

namespace {

constexpr auto kUsage = "a time is RFC 3339, for example 2026-11-30T12:00:00.000Z";

/// Takes exactly `digits` decimal digits off the front of `text`; -1 when they are not there.
int takeNumber(std::string_view& text, std::size_t digits)
{
    int value = 0;
    if (text.size() < digits)
        return -1;
    for (std::size_t i = 0; i < digits; ++i) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(digits);
    return value;
}

bool takeChar(std::string_view& text, std::string_view oneOf)
{
    if (text.empty() || oneOf.find(text.front()) == std::string_view::npos)
        return false;
    text.remove_prefix(1);
    return true;
}

int takeMilliseconds(std::string_view& text)
{
    if (!takeChar(text, "."))
        return 0;
    int value = 0;
    int digits = 0;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        if (digits < 3)
            value = value * 10 + (text.front() - '0');
        ++digits;
        text.remove_prefix(1);
    }
    for (int i = digits; i < 3; ++i)
        value *= 10;
    return digits == 0 ? -1 : value;
}

/// The offset in minutes east of UTC; empty when it is malformed.
std::optional<int> takeOffset(std::string_view& text)
{
    if (takeChar(text, "Zz"))
        return 0;
    const bool west = text.starts_with('-');
    if (!takeChar(text, "+-"))
        return std::nullopt;
    const int hours = takeNumber(text, 2);
    if (!takeChar(text, ":"))
        return std::nullopt;
    const int minutes = takeNumber(text, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
        return std::nullopt;
    return (west ? -1 : 1) * (hours * 60 + minutes);
}

} // namespace

Timestamp SystemClock::now() const
{
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

std::chrono::steady_clock::time_point SystemClock::steadyNow() const { return std::chrono::steady_clock::now(); }

std::string formatTimestamp(Timestamp time)
{
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(time - day);
    std::array<char, 40> out{};
    std::snprintf(out.data(), out.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                  static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
    return out.data();
}

Result<Timestamp> parseTimestamp(std::string_view text)
{
    const int year = takeNumber(text, 4);
    const bool dash1 = takeChar(text, "-");
    const int month = takeNumber(text, 2);
    const bool dash2 = takeChar(text, "-");
    const int day = takeNumber(text, 2);
    const bool separator = takeChar(text, "Tt");
    const int hour = takeNumber(text, 2);
    const bool colon1 = takeChar(text, ":");
    const int minute = takeNumber(text, 2);
    const bool colon2 = takeChar(text, ":");
    const int second = takeNumber(text, 2);
    if (year < 0 || !dash1 || !dash2 || !separator || !colon1 || !colon2)
        return fail(ErrorCode::InvalidArgument, kUsage);
    const int milliseconds = takeMilliseconds(text);
    const auto offset = takeOffset(text);
    const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day)));
    const bool inRange = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second <= 60;
    if (month < 0 || day < 0 || !date.ok() || !inRange || milliseconds < 0 || !offset || !text.empty())
        return fail(ErrorCode::InvalidArgument, kUsage);
    return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute - *offset) +
           std::chrono::seconds(second) + std::chrono::milliseconds(milliseconds);
}

} // namespace assay
