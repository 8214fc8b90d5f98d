// SPDX-License-Identifier: Apache-2.0
#include "server/registry/tar_audit.h"

#include "server/registry/archive_fault.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace assay::registry {

namespace {

// Offsets and lengths of the header's fields.
constexpr std::pair<std::size_t, std::size_t> kName{0, 100};
constexpr std::pair<std::size_t, std::size_t> kSize{124, 12};
constexpr std::pair<std::size_t, std::size_t> kChecksum{148, 8};
constexpr std::size_t kType = 156;
constexpr std::uint64_t kMaxSize = 1ULL << 40;

std::string_view field(std::string_view block, std::pair<std::size_t, std::size_t> where)
{
    return block.substr(where.first, where.second);
}

/// Octal digits between optional blanks and an ending NUL or blank, or base 256 behind a set top bit.
std::optional<std::uint64_t> parseNumber(std::string_view text)
{
    std::uint64_t value = 0;
    if ((static_cast<unsigned char>(text.front()) & 0x80) != 0) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (value > kMaxSize)
                return std::nullopt;
            value = value << 8 | (static_cast<unsigned char>(text[i]) & (i == 0 ? 0x7F : 0xFF));
        }
        return value <= kMaxSize ? std::optional(value) : std::nullopt;
    }
    const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t last = std::min(text.find_first_of(std::string_view(" \0", 2), first), text.size());
    for (const char c : text.substr(first, last - first)) {
        if (c < '0' || c > '7')
            return std::nullopt;
        value = value * 8 + static_cast<std::uint64_t>(c - '0');
    }
    return text.find_first_not_of(std::string_view(" \0", 2), last) == std::string_view::npos ? std::optional(value)
                                                                                              : std::nullopt;
}

/// The sum of the header's bytes with the checksum field as blanks; old writers summed signed bytes.
bool hasRightChecksum(std::string_view block)
{
    std::uint64_t plain = 0;
    std::int64_t asSigned = 0;
    for (std::size_t i = 0; i < block.size(); ++i) {
        const bool inField = i >= kChecksum.first && i < kChecksum.first + kChecksum.second;
        const char c = inField ? ' ' : block[i];
        plain += static_cast<unsigned char>(c);
        asSigned += static_cast<signed char>(c);
    }
    const auto stored = parseNumber(field(block, kChecksum));
    return stored && (*stored == plain || static_cast<std::int64_t>(*stored) == asSigned);
}

bool isZero(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

bool isExtension(char type) { return type == 'x' || type == 'g' || type == 'L' || type == 'K'; }

std::uint64_t padded(std::uint64_t size) { return (size + TarAudit::kBlock - 1) / TarAudit::kBlock * TarAudit::kBlock; }

} // namespace

std::string TarAudit::entryName() const
{
    if (!m_longName.empty())
        return m_longName;
    const std::string_view name = field(m_block, kName);
    return std::string(name.substr(0, name.find('\0')));
}

Result<void> TarAudit::judgeType(char type, std::uint64_t size)
{
    const bool isFile = type == '0' || type == '\0' || type == '7';
    const bool isLinkOrDevice = type >= '1' && type <= '6' && type != '5';
    if (m_isSparse || type == 'S')
        return rejectArchive(linkNotAllowed(entryName(), "a sparse file"));
    if (!isFile && !isLinkOrDevice && type != '5')
        return rejectArchive(linkNotAllowed(entryName(), "an entry of an unknown type"));
    if (!isFile && size > 0)
        return isLinkOrDevice
                   ? Result<void>(rejectArchive(linkNotAllowed(entryName(), "a link or device with content")))
                   : Result<void>(corruptArchive("the folder's entry claims content", entryName()));
    if (m_paxSize && *m_paxSize != size)
        return corruptArchive("the entry has two sizes", entryName());
    return {};
}

Result<void> TarAudit::takeHeader()
{
    if (isZero(m_block)) {
        m_state = State::SecondZeroBlock;
        return {};
    }
    const auto size = parseNumber(field(m_block, kSize));
    if (!hasRightChecksum(m_block) || !size)
        return corruptArchive("the tar has a damaged header", m_longName);
    const char type = m_block[kType];
    m_payload = padded(*size);
    m_state = m_payload > 0 ? State::Payload : State::Header;
    if (isExtension(type)) {
        if (*size > kMaxExtension)
            return corruptArchive("the tar has an extended header of " + std::to_string(*size) +
                                  " bytes; the limit is " + shownSize(kMaxExtension));
        m_extension = type;
        m_extensionSize = *size;
        m_collected.clear();
        return m_payload > 0 ? Result<void>() : takeExtension();
    }
    auto judged = judgeType(type, *size);
    m_longName.clear();
    m_paxSize.reset();
    m_isSparse = false;
    return judged;
}

Result<void> TarAudit::takePaxRecord(std::string_view key, std::string_view value)
{
    if (m_extension == 'g') {
        if (key == "path" || key == "size" || key == "linkpath")
            return corruptArchive("the tar has a global header that sets " + inQuotes(key) + " for all entries");
        return {};
    }
    if (key == "path") {
        if (value.find('\0') != std::string_view::npos)
            return corruptArchive("the entry's name has a NUL byte", value);
        m_longName = value;
    } else if (key == "size") {
        std::uint64_t size = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), size);
        if (error != std::errc() || end != value.data() + value.size())
            return corruptArchive("the tar has an extended header with a size that is no number");
        m_paxSize = size;
    } else if (key.starts_with("GNU.sparse.") || key.starts_with("SUN.holesdata")) {
        m_isSparse = true;
    }
    return {};
}

/// Records of pax are "LENGTH KEY=VALUE\n", LENGTH counting all of it.
Result<void> TarAudit::takeExtension()
{
    const char type = m_extension;
    std::string_view rest = std::string_view(m_collected).substr(0, m_extensionSize);
    if (type == 'L')
        m_longName = rest.substr(0, rest.find('\0'));
    while ((type == 'x' || type == 'g') && !rest.empty()) {
        std::size_t length = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
        const auto start = static_cast<std::size_t>(end - rest.data()) + 1;
        if (error != std::errc() || length > rest.size() || start >= length || *end != ' ' || rest[length - 1] != '\n')
            return corruptArchive("the tar has a malformed extended header");
        const std::string_view record = rest.substr(start, length - start - 1);
        const std::size_t equals = record.find('=');
        if (equals == std::string_view::npos)
            return corruptArchive("the tar has a malformed extended header");
        if (auto taken = takePaxRecord(record.substr(0, equals), record.substr(equals + 1)); !taken)
            return taken;
        rest.remove_prefix(length);
    }
    m_extension = 0;
    m_collected.clear();
    return {};
}

Result<void> TarAudit::takeBlock()
{
    if (m_state == State::Header)
        return takeHeader();
    if (!isZero(m_block))
        return corruptArchive("the tar's end mark is half there: one block of zeros, then more entries");
    m_state = State::Tail;
    return {};
}

Result<void> TarAudit::feed(std::string_view bytes)
{
    while (!bytes.empty()) {
        if (m_state == State::Tail)
            return isZero(bytes) ? Result<void>() : corruptArchive("bytes follow the tar's end mark");
        if (m_state == State::Payload) {
            const std::size_t taken = std::min<std::uint64_t>(m_payload, bytes.size());
            if (m_extension != 0)
                m_collected += bytes.substr(0, taken);
            m_payload -= taken;
            bytes.remove_prefix(taken);
            if (m_payload > 0)
                return {};
            m_state = State::Header;
            if (auto read = m_extension != 0 ? takeExtension() : Result<void>(); !read)
                return read;
            continue;
        }
        const std::size_t taken = std::min(kBlock - m_block.size(), bytes.size());
        m_block += bytes.substr(0, taken);
        bytes.remove_prefix(taken);
        if (m_block.size() < kBlock)
            return {};
        auto read = takeBlock();
        m_block.clear();
        if (!read)
            return read;
    }
    return {};
}

Result<void> TarAudit::finish() const
{
    if (m_state == State::Tail)
        return {};
    if (m_state == State::Payload || !m_block.empty())
        return corruptArchive("the tar is truncated; send it again");
    return corruptArchive("the tar has no end mark of two zero blocks; it may be truncated, send it again");
}

} // namespace assay::registry
