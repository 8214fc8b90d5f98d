// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/archive.h"
#include "tests/unit/registry/package_fixture.h"

#include <QDir>

#include <zlib.h>

namespace assay::test {

/// Reads `bytes` as an archive of `kind`, from an unnamed file as the server does.
inline Result<registry::PackageSource> readBytes(std::string_view bytes, registry::ArchiveKind kind,
                                                 const registry::PackageLimits& limits = {})
{
    const std::filesystem::path scratch = QDir::tempPath().toStdString();
    auto fd = openUnnamedFile(scratch);
    if (!fd)
        return forward(fd);
    if (auto written = writeAll(fd->get(), bytes); !written)
        return forward(written);
    ::lseek(fd->get(), 0, SEEK_SET);
    return registry::readArchive(fd->get(), kind, limits, scratch);
}

/// "path" of each file in order, with "*" behind an executable one.
inline std::vector<std::string> namesOf(const registry::PackageSource& source)
{
    std::vector<std::string> out;
    for (const registry::SourceFile& file : source.files())
        out.push_back(file.path + (file.executable ? "*" : ""));
    return out;
}

/// What `readBytes` makes of it: the files' names, or the codes.
inline QByteArray outcome(const Result<registry::PackageSource>& result)
{
    return joined(result ? namesOf(*result) : codesOf(result));
}

struct TarOptions
{
    char type = '0';
    unsigned mode = 0644;
    std::string link;
    std::string sizeField; ///< instead of the content's size
};

/// One ustar entry: the header and the padded content.
inline std::string tarEntry(const std::string& name, const std::string& content = {}, const TarOptions& options = {})
{
    const auto octal = [](std::uint64_t value, int digits) {
        return QByteArray::number(qulonglong(value), 8).rightJustified(digits, '0').toStdString();
    };
    std::string header(512, '\0');
    const auto put = [&header](std::size_t offset, std::string_view text) {
        header.replace(offset, text.size(), text);
    };
    put(0, name.substr(0, 100));
    put(100, octal(options.mode, 7));
    put(108, octal(0, 7));
    put(116, octal(0, 7));
    put(124, options.sizeField.empty() ? octal(content.size(), 11) : options.sizeField);
    put(136, octal(0, 11));
    put(148, "        ");
    header[156] = options.type;
    put(157, options.link);
    put(257, std::string_view("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : header)
        sum += static_cast<unsigned char>(c);
    put(148, octal(sum, 6));
    header[154] = '\0';
    const std::size_t padding = (512 - content.size() % 512) % 512;
    return header + content + std::string(padding, '\0');
}

inline std::string tarEnd() { return std::string(1024, '\0'); }

inline std::string paxRecord(const std::string& key, const std::string& value)
{
    std::size_t length = key.size() + value.size() + 3;
    while (std::to_string(length).size() + key.size() + value.size() + 3 != length)
        ++length;
    return std::to_string(length) + ' ' + key + '=' + value + '\n';
}

inline std::string gzipped(std::string bytes)
{
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

/// Files as the writers take them; `content` must outlive the result.
inline std::vector<registry::PackageFile> packageFiles(const std::map<std::string, std::string>& content,
                                                       const std::set<std::string>& executable = {})
{
    std::vector<registry::PackageFile> files;
    for (const auto& [path, bytes] : content)
        files.push_back({.path = path, .content = bytes, .executable = executable.contains(path)});
    return files;
}

} // namespace assay::test
