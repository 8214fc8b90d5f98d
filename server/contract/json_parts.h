// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/error.h"
#include "server/core/json.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::contract {

/// Small pieces that the writers of this folder share. An empty text, or an absent value, is `null`. Pure.
inline json::value textOrNull(const std::string& text) { return text.empty() ? json::value() : json::value(text); }
inline json::value timeText(Timestamp time) { return json::value(formatTimestamp(time)); }
inline json::value timeOrNull(const std::optional<Timestamp>& time) { return time ? timeText(*time) : json::value(); }
template <typename T> json::value valueOrNull(const std::optional<T>& value)
{
    return value ? json::value(*value) : json::value();
}

/// A whole number is written as one: "1", where Boost.JSON would write a double as "1E0". `number` is finite.
inline json::value numberJson(double number)
{
    constexpr double exact = 9007199254740992.0; // beyond, not every whole number is a double
    if (number < -exact || number > exact)
        return number;
    const auto whole = static_cast<std::int64_t>(number);
    return static_cast<double>(whole) == number ? json::value(whole) : json::value(number);
}

json::array textArray(const std::vector<std::string>& texts);
json::object textObject(const std::map<std::string, std::string>& texts);
json::array problemArray(const std::vector<Problem>& problems);

} // namespace assay::contract
