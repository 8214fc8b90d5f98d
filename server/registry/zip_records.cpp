// SPDX-License-Identifier: Apache-2.0
#include "server/registry/zip_records.h"

#include <zlib.h>

namespace assay::registry {

namespace {

constexpr std::uint16_t kZip64Field = 0x0001;
constexpr std::uint16_t kUnicodePathField = 0x7075;

} // namespace

std::uint64_t zipNumber(std::string_view bytes, std::size_t offset, std::size_t size)
{
    std::uint64_t value = 0;
    for (std::size_t i = size; i > 0; --i)
        value = value << 8 | static_cast<unsigned char>(bytes[offset + i - 1]);
    return value;
}

std::optional<std::string_view> zipExtra(std::string_view fields, std::uint16_t id)
{
    while (fields.size() >= 4) {
        const std::size_t size = zipNumber(fields, 2, 2);
        if (4 + size > fields.size())
            return std::nullopt;
        if (zipNumber(fields, 0, 2) == id)
            return fields.substr(4, size);
        fields.remove_prefix(4 + size);
    }
    return std::nullopt;
}

bool applyZip64(std::string_view extraFields, const Zip64Numbers& numbers)
{
    std::string_view field = zipExtra(extraFields, kZip64Field).value_or(std::string_view());
    for (std::uint64_t* number : {numbers.size, numbers.compressedSize, numbers.offset}) {
        if (!number || *number != kZip64Mark32)
            continue;
        if (field.size() < 8)
            return false;
        *number = zipNumber(field, 0, 8);
        field.remove_prefix(8);
    }
    return true;
}

std::optional<std::string> zipUnicodeName(std::string_view extraFields, std::string_view name)
{
    const auto field = zipExtra(extraFields, kUnicodePathField);
    if (!field || field->size() < 5 || field->front() != 1)
        return std::nullopt;
    const uLong crc = crc32(0, reinterpret_cast<const Bytef*>(name.data()), static_cast<uInt>(name.size()));
    if (zipNumber(*field, 1, 4) != crc)
        return std::nullopt;
    return std::string(field->substr(5));
}

} // namespace assay::registry
