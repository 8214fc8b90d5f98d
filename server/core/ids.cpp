// SPDX-License-Identifier: Apache-2.0
#include "server/core/ids.h"

#include "server/core/random.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

namespace assay {

namespace {

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::size_t kLength = 26;

using Ulid = std::array<unsigned char, 16>;

void increment(Ulid& ulid)
{
    for (std::size_t i = ulid.size(); i-- > 6;)
        if (++ulid[i] != 0)
            return;
}

Ulid nextUlid(std::uint64_t milliseconds)
{
    static std::mutex mutex;
    static std::uint64_t last = 0;
    static Ulid ulid{};
    const std::lock_guard lock(mutex);
    if (milliseconds <= last) { // the same millisecond, or a clock that went back: stay monotonic
        increment(ulid);
        return ulid;
    }
    last = milliseconds;
    for (std::size_t i = 0; i < 6; ++i)
        ulid[i] = static_cast<unsigned char>(milliseconds >> (40 - 8 * i));
    const std::string random = randomBytes(10);
    std::memcpy(ulid.data() + 6, random.data(), random.size());
    return ulid;
}

} // namespace

std::string newId(std::string_view prefix, Timestamp now)
{
    const Ulid ulid = nextUlid(static_cast<std::uint64_t>(now.time_since_epoch().count()));
    std::string out(prefix);
    // 130 bits in 26 groups of 5; the two bits above the value's 128 are zero.
    for (std::size_t group = 0; group < kLength; ++group) {
        unsigned value = 0;
        for (std::size_t bit = group * 5; bit < group * 5 + 5; ++bit) {
            const bool set = bit >= 2 && ((ulid[(bit - 2) / 8] >> (7 - (bit - 2) % 8)) & 1);
            value = value * 2 + (set ? 1 : 0);
        }
        out += kAlphabet[value];
    }
    return out;
}

bool isId(std::string_view text, std::string_view prefix)
{
    if (!text.starts_with(prefix) || text.size() != prefix.size() + kLength)
        return false;
    return std::ranges::all_of(text.substr(prefix.size()), [](char c) { return kAlphabet.contains(c); });
}

} // namespace assay
