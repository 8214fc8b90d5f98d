// SPDX-License-Identifier: Apache-2.0
#include "server/core/text.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utf8proc.h>

namespace assay {

namespace {

bool isAscii(std::string_view text)
{
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string map(std::string_view text, int options)
{
    utf8proc_uint8_t* raw = nullptr;
    const auto length =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                     &raw, static_cast<utf8proc_option_t>(options));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(raw, &std::free);
    if (length < 0)
        return std::string(text); // not UTF-8: the caller has checked, or compares bytes
    return {reinterpret_cast<const char*>(raw), static_cast<std::size_t>(length)};
}

/// The length of the sequence at the front and its code point; 0 when it is invalid.
std::size_t decodeOne(std::string_view text, char32_t& out)
{
    utf8proc_int32_t value = -1;
    const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &value);
    if (size <= 0)
        return 0;
    out = static_cast<char32_t>(value);
    return static_cast<std::size_t>(size);
}

} // namespace

std::optional<std::size_t> firstInvalidUtf8(std::string_view bytes)
{
    std::size_t at = 0;
    while (at < bytes.size()) {
        if (static_cast<unsigned char>(bytes[at]) < 0x80) {
            ++at;
            continue;
        }
        char32_t ignored = 0;
        const std::size_t size = decodeOne(bytes.substr(at), ignored);
        if (size == 0)
            return at;
        at += size;
    }
    return std::nullopt;
}

bool isUtf8(std::string_view bytes) { return !firstInvalidUtf8(bytes); }

char32_t takeCodePoint(std::string_view& text)
{
    char32_t out = 0xFFFD;
    const std::size_t size = decodeOne(text, out);
    text.remove_prefix(size == 0 ? 1 : size);
    return size == 0 ? 0xFFFD : out;
}

void appendUtf8(std::string& out, char32_t codePoint)
{
    std::array<utf8proc_uint8_t, 4> buffer{};
    const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(codePoint), buffer.data());
    out.append(reinterpret_cast<const char*>(buffer.data()),
               static_cast<std::size_t>(std::max<utf8proc_ssize_t>(size, 0)));
}

std::string toNfc(std::string_view text)
{
    return isAscii(text) ? std::string(text) : map(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
}

std::string toNfkc(std::string_view text)
{
    return isAscii(text) ? std::string(text) : map(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
}

std::string caseFoldKey(std::string_view text)
{
    return map(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD);
}

std::string toLower(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty())
        appendUtf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(takeCodePoint(text)))));
    return out;
}

bool isAlphanumeric(char32_t codePoint)
{
    const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(codePoint));
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
           (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO);
}

std::size_t firstGraphemeSize(std::string_view text)
{
    std::string_view rest = text;
    auto before = static_cast<utf8proc_int32_t>(takeCodePoint(rest));
    utf8proc_int32_t state = 0;
    while (!rest.empty()) {
        std::string_view ahead = rest;
        const auto next = static_cast<utf8proc_int32_t>(takeCodePoint(ahead));
        if (utf8proc_grapheme_break_stateful(before, next, &state))
            break;
        before = next;
        rest = ahead;
    }
    return text.size() - rest.size();
}

std::size_t countCodePoints(std::string_view text)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

} // namespace assay
