// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace assay::sandbox::channel {

/// Writes little-endian values into a fixed buffer. Past its end nothing is written and `ok()` turns false.
class PayloadWriter
{
public:
    explicit PayloadWriter(std::span<char> buffer) : m_buffer(buffer) {}

    template <typename Integer> PayloadWriter& number(Integer value)
    {
        char bytes[sizeof(Integer)];
        auto rest = static_cast<std::uint64_t>(value);
        for (char& byte : bytes) {
            byte = static_cast<char>(rest & 0xff);
            rest >>= 8;
        }
        return raw({bytes, sizeof bytes});
    }

    PayloadWriter& raw(std::string_view bytes)
    {
        m_ok = m_ok && bytes.size() <= m_buffer.size() - m_used;
        if (m_ok && !bytes.empty()) {
            std::memcpy(m_buffer.data() + m_used, bytes.data(), bytes.size());
            m_used += bytes.size();
        }
        return *this;
    }

    /// u32 length, then the bytes.
    PayloadWriter& text(std::string_view bytes) { return number(static_cast<std::uint32_t>(bytes.size())).raw(bytes); }

    bool ok() const { return m_ok; }
    std::string_view view() const { return {m_buffer.data(), m_used}; }

private:
    std::span<char> m_buffer;
    std::size_t m_used = 0;
    bool m_ok = true;
};

/// Reads what PayloadWriter wrote. After a read past the end everything reads as zero and `ok()` is false.
class PayloadReader
{
public:
    explicit PayloadReader(std::string_view bytes) : m_rest(bytes) {}

    template <typename Integer> Integer number()
    {
        const std::string_view bytes = raw(sizeof(Integer));
        std::uint64_t value = 0;
        for (std::size_t i = bytes.size(); i > 0; --i)
            value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
        return static_cast<Integer>(value);
    }

    std::string_view raw(std::size_t size)
    {
        m_ok = m_ok && size <= m_rest.size();
        if (!m_ok)
            return {};
        const std::string_view bytes = m_rest.substr(0, size);
        m_rest.remove_prefix(size);
        return bytes;
    }

    std::string_view text() { return raw(number<std::uint32_t>()); }
    std::string_view rest() { return raw(m_rest.size()); }

    bool ok() const { return m_ok; }
    /// All was read and nothing is left: the only acceptable end of a payload.
    bool finished() const { return m_ok && m_rest.empty(); }

private:
    std::string_view m_rest;
    bool m_ok = true;
};

} // namespace assay::sandbox::channel
