// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::registry {

/// Walks the headers of a tar stream (POSIX.1-2017 pax, "ustar Interchange Format") beside libarchive and refuses what
/// that lets pass: sparse files and unknown entry types taken for files, sizes that contradict, a missing end mark,
/// bytes after it. Links and devices are left to the reader, except one that claims content. Not synchronized.
class TarAudit
{
public:
    static constexpr std::size_t kBlock = 512;
    static constexpr std::uint64_t kMaxExtension = 1 << 20; ///< bytes of one pax or GNU long-name entry

    /// Takes the next bytes of the stream, in pieces of any size.
    Result<void> feed(std::string_view bytes);
    /// After all bytes: refuses a stream that ended too early.
    Result<void> finish() const;

private:
    enum class State : std::uint8_t { Header, Payload, SecondZeroBlock, Tail };
    Result<void> takeBlock();
    Result<void> takeHeader();
    Result<void> takeExtension();
    Result<void> takePaxRecord(std::string_view key, std::string_view value);
    Result<void> judgeType(char type, std::uint64_t size);
    std::string entryName() const;

    State m_state = State::Header;
    std::string m_block;
    std::uint64_t m_payload = 0; ///< bytes still to come, padding included
    char m_extension = 0;        ///< the type of the extension whose payload is being collected, or 0
    std::uint64_t m_extensionSize = 0;
    std::string m_collected;
    std::string m_longName;
    std::optional<std::uint64_t> m_paxSize;
    bool m_isSparse = false;
};

} // namespace assay::registry
