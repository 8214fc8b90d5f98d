// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/json.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::cli {

/// Reads members of an answer for people: what is missing or of another type is empty, so that a newer server's answer
/// still prints. `path` is one member's name, or several with dots ("usage.cpu_ms").
std::string textOf(const json::value& value, std::string_view path);
std::uint64_t numberOf(const json::value& value, std::string_view path);
bool isTrue(const json::value& value, std::string_view path);
/// The elements of an array member.
const json::array& itemsOf(const json::value& value, std::string_view path);
/// Null when there is no such member.
const json::value* memberOf(const json::value& value, std::string_view path);
/// An array of strings as one text: "a, b".
std::string joined(const json::value& value, std::string_view path);

/// Two blanks a level, members in the order in which they came, a line break at the end.
std::string prettyJson(const json::value& value);

} // namespace assay::cli
