// SPDX-License-Identifier: Apache-2.0
#include "server/registry/diff/line_tokens.h"

#include "server/core/text.h"

namespace assay::registry::diff {

namespace {

enum class Class : std::uint8_t { Word, Blank, Single };

/// Thai to Khmer, kana, ideographs: words there are not told apart by spaces.
bool isUnspaced(char32_t point)
{
    const auto within = [point](char32_t first, char32_t last) { return point >= first && point <= last; };
    return within(0x0E00, 0x0EFF) || within(0x1000, 0x109F) || within(0x1780, 0x17FF) || within(0x2E80, 0x9FFF) ||
           within(0xF900, 0xFAFF) || within(0x20000, 0x3FFFF);
}

bool isAsciiWord(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

Class classOf(std::string_view character)
{
    const auto first = static_cast<unsigned char>(character.front());
    if (first < 0x80 && character.size() == 1)
        return isAsciiWord(first) ? Class::Word : first == ' ' || first == '\t' ? Class::Blank : Class::Single;
    std::string_view rest = character;
    const char32_t point = takeCodePoint(rest);
    return isAlphanumeric(point) && !isUnspaced(point) ? Class::Word : Class::Single;
}

std::size_t characterSize(std::string_view text)
{
    const auto isPlain = [&](std::size_t at) { return static_cast<unsigned char>(text[at]) < 0x80; };
    return isPlain(0) && (text.size() == 1 || isPlain(1)) ? 1 : firstGraphemeSize(text);
}

std::uint64_t hashOf(std::string_view bytes)
{
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a, 64 bits
    for (const char c : bytes)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

} // namespace

std::vector<Token> tokensOf(std::string_view line)
{
    std::vector<Token> out;
    Class before = Class::Single;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t size = characterSize(line.substr(at));
        const Class now = classOf(line.substr(at, size));
        if (now != before || now == Class::Single)
            out.push_back({.start = static_cast<std::uint32_t>(at), .isBlank = now == Class::Blank});
        out.back().size += static_cast<std::uint32_t>(size);
        before = now;
        at += size;
    }
    for (Token& token : out)
        token.hash = hashOf(line.substr(token.start, token.size));
    return out;
}

} // namespace assay::registry::diff
