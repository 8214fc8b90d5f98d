// SPDX-License-Identifier: Apache-2.0
#include "server/core/json.h"

#include "server/core/text.h"

#include <charconv>
#include <cmath>

namespace assay {

namespace {

std::u16string toUtf16(std::string_view text)
{
    std::u16string out;
    while (!text.empty()) {
        const char32_t c = takeCodePoint(text);
        if (c < 0x10000) {
            out += static_cast<char16_t>(c);
        } else {
            out += static_cast<char16_t>(0xD800 + ((c - 0x10000) >> 10));
            out += static_cast<char16_t>(0xDC00 + ((c - 0x10000) & 0x3FF));
        }
    }
    return out;
}

void writeString(std::string& out, std::string_view text)
{
    constexpr std::string_view hex = "0123456789abcdef";
    out += '"';
    for (const char c : text) {
        switch (c) {
        case '"':
            out += "\\\"";
            break;
        case '\\':
            out += "\\\\";
            break;
        case '\b':
            out += "\\b";
            break;
        case '\f':
            out += "\\f";
            break;
        case '\n':
            out += "\\n";
            break;
        case '\r':
            out += "\\r";
            break;
        case '\t':
            out += "\\t";
            break;
        default:
            if (static_cast<unsigned char>(c) < 0x20)
                (out += "\\u00") += {hex[static_cast<unsigned char>(c) >> 4], hex[static_cast<unsigned char>(c) & 15]};
            else
                out += c;
        }
    }
    out += '"';
}

/// The number format of ECMAScript (Number::toString), as RFC 8785, section 3.2.2.3 demands: the shortest digits that
/// read back as the same double, in plain form from 1e-6 up to below 1e21.
void writeDouble(std::string& out, double value)
{
    if (value == 0) {
        out += '0'; // minus zero too
        return;
    }
    std::array<char, 40> buffer{};
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value), std::chars_format::scientific).ptr;
    const std::string_view text(buffer.data(), end);
    const std::size_t e = text.find('e');
    std::string digits(1, text[0]);
    if (e > 2)
        digits += text.substr(2, e - 2);
    int exponent = 0;
    std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
    const int count = static_cast<int>(digits.size());
    const int point = exponent + 1; // where the decimal point stands, counted from the first digit
    if (value < 0)
        out += '-';
    if (count <= point && point <= 21)
        out += digits + std::string(static_cast<std::size_t>(point - count), '0');
    else if (0 < point && point <= 21)
        out += digits.substr(0, static_cast<std::size_t>(point)) + "." + digits.substr(static_cast<std::size_t>(point));
    else if (-6 < point && point <= 0)
        out += "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
    else
        out += digits.substr(0, 1) + (count > 1 ? "." + digits.substr(1) : "") + (exponent < 0 ? "e-" : "e+") +
               std::to_string(std::abs(exponent));
}

void write(std::string& out, const json::value& value);

void writeObject(std::string& out, const json::object& object)
{
    std::vector<std::pair<std::u16string, const json::key_value_pair*>> members;
    members.reserve(object.size());
    for (const auto& member : object)
        members.emplace_back(toUtf16(member.key()), &member);
    std::ranges::sort(members, {}, [](const auto& member) -> const std::u16string& { return member.first; });
    out += '{';
    for (const auto& [order, member] : members) {
        if (out.back() != '{')
            out += ',';
        writeString(out, member->key());
        out += ':';
        write(out, member->value());
    }
    out += '}';
}

void writeArray(std::string& out, const json::array& array)
{
    out += '[';
    bool first = true;
    for (const auto& element : array) {
        if (!std::exchange(first, false))
            out += ',';
        write(out, element);
    }
    out += ']';
}

void write(std::string& out, const json::value& value)
{
    switch (value.kind()) {
    case json::kind::null:
        out += "null";
        break;
    case json::kind::bool_:
        out += value.get_bool() ? "true" : "false";
        break;
    // RFC 8785 knows only doubles. Integers of ours stay below 2^53, where both forms agree; larger ones keep every
    // digit rather than being rounded in silence.
    case json::kind::int64:
        out += std::to_string(value.get_int64());
        break;
    case json::kind::uint64:
        out += std::to_string(value.get_uint64());
        break;
    case json::kind::double_:
        writeDouble(out, value.get_double());
        break;
    case json::kind::string:
        writeString(out, value.get_string());
        break;
    case json::kind::array:
        writeArray(out, value.get_array());
        break;
    case json::kind::object:
        writeObject(out, value.get_object());
        break;
    }
}

} // namespace

std::string canonicalJson(const json::value& value)
{
    std::string out;
    write(out, value);
    return out;
}

} // namespace assay
