// SPDX-License-Identifier: Apache-2.0
#include "server/core/base64.h"

#include <array>
#include <cstdint>

namespace assay {

namespace {

constexpr std::string_view kStandard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlSafe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::array<std::int8_t, 256> reverse(std::string_view alphabet)
{
    std::array<std::int8_t, 256> out{};
    out.fill(-1);
    for (std::size_t i = 0; i < alphabet.size(); ++i)
        out[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
    return out;
}

constexpr auto kFromStandard = reverse(kStandard);
constexpr auto kFromUrlSafe = reverse(kUrlSafe);

std::string encode(std::string_view bytes, std::string_view alphabet)
{
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    std::uint32_t buffer = 0;
    int bits = 0;
    for (const char c : bytes) {
        buffer = (buffer << 8) | static_cast<unsigned char>(c);
        for (bits += 8; bits >= 6; bits -= 6)
            out += alphabet[(buffer >> (bits - 6)) & 63];
    }
    if (bits > 0)
        out += alphabet[(buffer << (6 - bits)) & 63];
    return out;
}

Result<std::string> decode(std::string_view text, const std::array<std::int8_t, 256>& table)
{
    std::string out;
    out.reserve(text.size() / 4 * 3 + 2);
    std::uint32_t buffer = 0;
    int bits = 0;
    for (const char c : text) {
        const int value = table[static_cast<unsigned char>(c)];
        if (value < 0)
            return fail(ErrorCode::InvalidArgument, "a character is not of the base64 alphabet");
        buffer = (buffer << 6) | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out += static_cast<char>((buffer >> bits) & 0xff);
        }
    }
    if (bits >= 6 || (buffer & ((1U << bits) - 1)) != 0)
        return fail(ErrorCode::InvalidArgument, "the base64 text ends within a byte");
    return out;
}

std::string_view withoutPadding(std::string_view text)
{
    for (int i = 0; i < 2 && text.ends_with('='); ++i)
        text.remove_suffix(1);
    return text;
}

} // namespace

std::string toBase64(std::string_view bytes)
{
    std::string out = encode(bytes, kStandard);
    out.append((4 - out.size() % 4) % 4, '=');
    return out;
}

Result<std::string> fromBase64(std::string_view text)
{
    if (text.size() % 4 != 0)
        return fail(ErrorCode::InvalidArgument, "the length of base64 text is a multiple of 4, padding included");
    return decode(withoutPadding(text), kFromStandard);
}

std::string toBase64Url(std::string_view bytes) { return encode(bytes, kUrlSafe); }

Result<std::string> fromBase64Url(std::string_view text)
{
    if (text.ends_with('=') && text.size() % 4 != 0)
        return fail(ErrorCode::InvalidArgument, "padded base64 text has a length that is a multiple of 4");
    return decode(withoutPadding(text), kFromUrlSafe);
}

} // namespace assay
