// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::registry {

// The records of a zip (APPNOTE.TXT 6.3.10, section 4.3), little-endian.
inline constexpr std::uint32_t kZipLocalHeader = 0x04034b50;
inline constexpr std::uint32_t kZipDirectoryEntry = 0x02014b50;
inline constexpr std::uint32_t kZipDescriptor = 0x08074b50;
inline constexpr std::uint32_t kZipEnd = 0x06054b50;
inline constexpr std::uint32_t kZip64End = 0x06064b50;
inline constexpr std::uint32_t kZip64Locator = 0x07064b50;
inline constexpr std::size_t kZipLocalBytes = 30;
inline constexpr std::size_t kZipDirectoryBytes = 46;
inline constexpr std::size_t kZipEndBytes = 22;
inline constexpr std::size_t kZip64EndBytes = 56;
inline constexpr std::size_t kZip64LocatorBytes = 20;

inline constexpr std::uint16_t kZipEncrypted = 1 << 0;
inline constexpr std::uint16_t kZipHasDescriptor = 1 << 3;
inline constexpr std::uint16_t kZipStrongEncryption = 1 << 6;
inline constexpr std::uint16_t kZipUtf8Name = 1 << 11;
inline constexpr std::uint16_t kZipMaskedHeader = 1 << 13;
inline constexpr std::uint16_t kZipStored = 0;
inline constexpr std::uint16_t kZipDeflate = 8;

inline constexpr std::uint32_t kZip64Mark32 = 0xFFFFFFFF;
inline constexpr std::uint16_t kZip64Mark16 = 0xFFFF;

/// The little-endian number of `size` bytes at `offset`, which the caller knows to be there.
std::uint64_t zipNumber(std::string_view bytes, std::size_t offset, std::size_t size);

/// The value of the extra field `id`, or empty when the fields have none; an empty view is a value of no bytes.
std::optional<std::string_view> zipExtra(std::string_view fields, std::uint16_t id);

/// Replaces the numbers that say "see the zip64 field" in its fixed order; false when the field is too short.
struct Zip64Numbers
{
    std::uint64_t* size = nullptr;
    std::uint64_t* compressedSize = nullptr;
    std::uint64_t* offset = nullptr; ///< null for a local header
};
bool applyZip64(std::string_view extraFields, const Zip64Numbers& numbers);

/// The name of the Info-ZIP Unicode path field (0x7075) when it is for `name`.
std::optional<std::string> zipUnicodeName(std::string_view extraFields, std::string_view name);

} // namespace assay::registry
