// SPDX-License-Identifier: Apache-2.0
#include "server/registry/zip_writer.h"

#include "server/registry/zip_records.h"

#include <algorithm>
#include <sys/stat.h>
#include <zlib.h>

namespace assay::registry {

namespace {

constexpr std::uint64_t kVersion = 20;            // deflate
constexpr std::uint64_t kMadeByUnix = 3 << 8;     // the mode is in the external attributes
constexpr std::uint64_t kEpoch = 0x0021ULL << 16; // 1980-01-01 00:00 in the date and time of MS-DOS
constexpr std::size_t kMaxFiles = 0xFFFE;
constexpr std::uint64_t kMaxBytes = 0xFFFF0000;
constexpr int kMemoryLevel = 8;

void put(std::string& out, std::uint64_t value, int size)
{
    for (int i = 0; i < size; ++i)
        out += static_cast<char>((value >> (8 * i)) & 0xFF);
}

/// What the local header and the directory both say.
struct Member
{
    std::string path;
    std::uint64_t offset = 0;
    std::uint32_t crc = 0;
    std::uint64_t compressedSize = 0;
    std::uint64_t size = 0;
    std::uint16_t method = kZipStored;
    bool executable = false;
};

/// Raw deflate; empty when it does not get smaller.
std::string deflated(std::string_view content)
{
    z_stream stream{};
    if (content.empty() ||
        deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
        return {};
    std::string out(content.size() - 1, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data())); // zlib does not write there
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int status = deflate(&stream, Z_FINISH);
    out.resize(status == Z_STREAM_END ? stream.total_out : 0);
    deflateEnd(&stream);
    return out;
}

/// The 26 bytes that start alike in both records.
void putCommon(std::string& out, const Member& member)
{
    const bool isAscii = std::ranges::all_of(member.path, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    put(out, kVersion, 2);
    put(out, isAscii ? 0 : kZipUtf8Name, 2);
    put(out, member.method, 2);
    put(out, kEpoch, 4);
    put(out, member.crc, 4);
    put(out, member.compressedSize, 4);
    put(out, member.size, 4);
    put(out, member.path.size(), 2);
    put(out, 0, 2); // no extra fields
}

void putMember(std::string& out, Member& member, std::string_view content)
{
    const std::string packed = deflated(content);
    const std::string_view data = packed.empty() ? content : std::string_view(packed);
    member.offset = out.size();
    member.crc = static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
    member.size = content.size();
    member.compressedSize = data.size();
    member.method = packed.empty() ? kZipStored : kZipDeflate;
    put(out, kZipLocalHeader, 4);
    putCommon(out, member);
    out += member.path;
    out += data;
}

void putDirectoryEntry(std::string& out, const Member& member)
{
    const std::uint64_t mode = S_IFREG | (member.executable ? 0755U : 0644U);
    put(out, kZipDirectoryEntry, 4);
    put(out, kMadeByUnix | kVersion, 2);
    putCommon(out, member);
    put(out, 0, 2); // no comment
    put(out, 0, 2); // disk
    put(out, 0, 2); // internal attributes
    put(out, mode << 16, 4);
    put(out, member.offset, 4);
    out += member.path;
}

void putEnd(std::string& out, std::size_t count, std::size_t directory)
{
    put(out, kZipEnd, 4);
    put(out, 0, 4); // disks
    put(out, count, 2);
    put(out, count, 2);
    put(out, out.size() - 12 - directory, 4);
    put(out, directory, 4);
    put(out, 0, 2); // no comment
}

} // namespace

Result<std::string> writeZip(const std::vector<PackageFile>& files, std::string_view topFolder)
{
    std::uint64_t total = 0;
    for (const PackageFile& file : files)
        total += file.content.size() + 2 * (file.path.size() + topFolder.size() + 100);
    if (files.size() > kMaxFiles || total > kMaxBytes)
        return fail(ErrorCode::TooLarge,
                    "the package is too large for a zip (65,534 files and 4 GiB); fetch it as tar.gz");
    std::string out;
    std::vector<Member> members;
    members.reserve(files.size());
    for (const PackageFile& file : files) {
        Member& member = members.emplace_back();
        member.path = topFolder.empty() ? file.path : std::string(topFolder) + '/' + file.path;
        member.executable = file.executable;
        putMember(out, member, file.content);
    }
    const std::size_t directory = out.size();
    for (const Member& member : members)
        putDirectoryEntry(out, member);
    putEnd(out, members.size(), directory);
    return out;
}

} // namespace assay::registry
