// SPDX-License-Identifier: Apache-2.0
#include "server/registry/tar_writer.h"

#include "server/registry/locale_scope.h"

#include <archive.h>
#include <archive_entry.h>
#include <limits>
#include <zlib.h>

namespace assay::registry {

namespace {

constexpr int kGzipWrapper = 16 + MAX_WBITS;
constexpr int kMemoryLevel = 8;

struct WriterCloser
{
    void operator()(struct archive* archive) const { archive_write_free(archive); }
};
struct EntryCloser
{
    void operator()(struct archive_entry* entry) const { archive_entry_free(entry); }
};
using Writer = std::unique_ptr<struct archive, WriterCloser>;
using Entry = std::unique_ptr<struct archive_entry, EntryCloser>;

std::unexpected<Error> outOfMemory()
{
    return fail(ErrorCode::Unavailable, "the server is out of memory; try again later");
}

std::unexpected<Error> failed(struct archive* archive)
{
    const char* text = archive_error_string(archive);
    return fail(ErrorCode::Internal, "the archive could not be made", text ? text : "libarchive gave no reason");
}

la_ssize_t appendTo(struct archive*, void* out, const void* data, std::size_t size)
{
    static_cast<std::string*>(out)->append(static_cast<const char*>(data), size);
    return static_cast<la_ssize_t>(size);
}

Result<void> writeFile(struct archive* archive, const PackageFile& file, std::string_view topFolder)
{
    const Entry entry(archive_entry_new());
    if (!entry)
        return outOfMemory();
    const std::string path = topFolder.empty() ? file.path : std::string(topFolder) + '/' + file.path;
    archive_entry_set_pathname_utf8(entry.get(), path.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), file.executable ? 0755 : 0644);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(file.content.size()));
    archive_entry_set_mtime(entry.get(), 0, 0);
    archive_entry_set_uid(entry.get(), 0);
    archive_entry_set_gid(entry.get(), 0);
    if (archive_write_header(archive, entry.get()) != ARCHIVE_OK)
        return failed(archive);
    const la_ssize_t wrote = archive_write_data(archive, file.content.data(), file.content.size());
    if (wrote < 0 || static_cast<std::size_t>(wrote) != file.content.size())
        return failed(archive);
    return {};
}

} // namespace

Result<std::string> writeTar(const std::vector<PackageFile>& files, std::string_view topFolder)
{
    const Utf8LocaleScope locale;
    std::string out;
    const Writer writer(archive_write_new());
    if (!writer)
        return outOfMemory();
    archive_write_set_format_pax_restricted(writer.get());
    if (archive_write_open2(writer.get(), &out, nullptr, appendTo, nullptr, nullptr) != ARCHIVE_OK)
        return failed(writer.get());
    for (const PackageFile& file : files) {
        if (auto written = writeFile(writer.get(), file, topFolder); !written)
            return forward(written);
    }
    if (archive_write_close(writer.get()) != ARCHIVE_OK)
        return failed(writer.get());
    return out;
}

Result<std::string> writeTarGz(const std::vector<PackageFile>& files, std::string_view topFolder)
{
    auto tar = writeTar(files, topFolder);
    if (!tar)
        return tar;
    if (tar->size() > std::numeric_limits<uInt>::max())
        return fail(ErrorCode::TooLarge, "the package is too large for one archive; the limit is 4 GiB");
    // zlib's own header has no time and no name: the bytes depend on the content only.
    z_stream stream{};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWrapper, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return outOfMemory();
    std::string out(deflateBound(&stream, static_cast<uLong>(tar->size())), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(tar->data());
    stream.avail_in = static_cast<uInt>(tar->size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int status = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    if (status != Z_STREAM_END)
        return fail(ErrorCode::Internal, "the archive could not be made", "deflate gave " + std::to_string(status));
    return out;
}

} // namespace assay::registry
