// SPDX-License-Identifier: Apache-2.0
#include "server/registry/tar_reader.h"

#include "server/registry/archive_fault.h"
#include "server/registry/entry_copy.h"
#include "server/registry/gzip_stream.h"
#include "server/registry/limit_problems.h"
#include "server/registry/locale_scope.h"
#include "server/registry/tar_audit.h"

#include <archive.h>
#include <archive_entry.h>
#include <cerrno>
#include <optional>

namespace assay::registry {

namespace {

constexpr std::size_t kChunk = 64 << 10;
/// What headers, padding and ignored entries may add to twice the package's own limit.
constexpr std::uint64_t kStreamSlack = 32ULL << 20;

/// The tar's bytes, unpacked and audited on their way to libarchive.
class TarFeed
{
public:
    TarFeed(int fd, std::optional<GzipStream> gzip, const PackageLimits& limits)
        : m_fd(fd), m_gzip(std::move(gzip)), m_limits(limits)
    {}

    /// The next piece; empty at the end, when the audit has seen everything.
    Result<std::string_view> next();
    /// Reads what libarchive left, so that the audit sees the end.
    Result<void> drain();

    /// For libarchive's callback: the error that ended the reading, if any.
    std::optional<Error> error;

private:
    Result<std::string_view> nextRaw();

    int m_fd;
    std::optional<GzipStream> m_gzip;
    const PackageLimits& m_limits;
    TarAudit m_audit;
    std::string m_buffer;
    std::uint64_t m_total = 0;
};

Result<std::string_view> TarFeed::nextRaw()
{
    if (m_gzip)
        return m_gzip->next();
    auto bytes = readUpTo(m_fd, m_total, kChunk);
    if (!bytes)
        return forward(bytes);
    m_buffer = std::move(*bytes);
    return std::string_view(m_buffer);
}

Result<std::string_view> TarFeed::next()
{
    auto bytes = nextRaw();
    if (!bytes)
        return bytes;
    if (bytes->empty()) {
        const auto whole = m_audit.finish();
        return whole ? bytes : Result<std::string_view>(std::unexpected(whole.error()));
    }
    m_total += bytes->size();
    if (m_total > 2 * m_limits.packageBytes + kStreamSlack)
        return rejectArchive(packageTooLarge(m_total, m_limits));
    if (auto fine = m_audit.feed(*bytes); !fine)
        return forward(fine);
    return bytes;
}

Result<void> TarFeed::drain()
{
    for (;;) {
        const auto bytes = next();
        if (!bytes)
            return std::unexpected(bytes.error());
        if (bytes->empty())
            return {};
    }
}

la_ssize_t readCallback(struct archive* archive, void* data, const void** buffer)
{
    auto& feed = *static_cast<TarFeed*>(data);
    auto bytes = feed.next();
    if (!bytes) {
        feed.error = std::move(bytes).error();
        archive_set_error(archive, EIO, "the stream ended with an error");
        return ARCHIVE_FATAL;
    }
    *buffer = bytes->data();
    return static_cast<la_ssize_t>(bytes->size());
}

/// The feed's own error says more than what libarchive makes of it.
std::unexpected<Error> readFault(struct archive* archive, TarFeed& feed)
{
    if (feed.error)
        return std::unexpected(std::move(*feed.error));
    return corruptArchive("the tar cannot be read: " + archiveMessage(archive));
}

std::string_view kindOfLink(struct archive_entry* entry)
{
    if (archive_entry_hardlink(entry))
        return "a hard link";
    switch (archive_entry_filetype(entry)) {
    case AE_IFLNK:
        return "a symbolic link";
    case AE_IFCHR:
    case AE_IFBLK:
        return "a device";
    case AE_IFIFO:
        return "a FIFO";
    default:
        return "an entry of an unknown type";
    }
}

Result<void> takeFile(struct archive* archive, struct archive_entry* entry, const std::string& path, TarFeed& feed,
                      ArchiveIntake& intake)
{
    if (archive_entry_sparse_count(entry) > 0)
        return rejectArchive(linkNotAllowed(path, "a sparse file"));
    if (archive_entry_size(entry) < 0)
        return corruptArchive("the entry has a negative size", path);
    const bool executable = (archive_entry_perm(entry) & 0100) != 0;
    const auto fate = intake.beginFile(path, static_cast<std::uint64_t>(archive_entry_size(entry)), executable);
    if (!fate)
        return std::unexpected(fate.error());
    if (*fate == ArchiveIntake::Fate::Skip) // the next header skips the content
        return {};
    auto copied = copyContent(archive, path, intake);
    return !copied && feed.error ? Result<void>(std::unexpected(std::move(*feed.error))) : copied;
}

Result<void> takeEntry(struct archive* archive, struct archive_entry* entry, TarFeed& feed, ArchiveIntake& intake)
{
    const char* name = archive_entry_pathname(entry);
    if (!name)
        return corruptArchive("the tar has an entry without a name");
    const std::string path = name;
    const bool isLink = archive_entry_hardlink(entry) != nullptr;
    if (!isLink && archive_entry_filetype(entry) == AE_IFREG)
        return takeFile(archive, entry, path, feed, intake);
    if (!isLink && archive_entry_filetype(entry) == AE_IFDIR)
        return intake.addFolder(path);
    return intake.addLink(path, kindOfLink(entry));
}

} // namespace

Result<void> readTar(int fd, ArchiveKind kind, const PackageLimits& limits, ArchiveIntake& intake)
{
    const Utf8LocaleScope locale;
    std::optional<GzipStream> gzip;
    if (kind == ArchiveKind::TarGz) {
        auto opened = GzipStream::open(fd);
        if (!opened)
            return forward(opened);
        gzip = std::move(*opened);
    }
    TarFeed feed(fd, std::move(gzip), limits);
    const ArchiveReader reader(archive_read_new());
    if (!reader)
        return fail(ErrorCode::Unavailable, "the server is out of memory; try again later");
    archive_read_support_filter_none(reader.get());
    archive_read_support_format_tar(reader.get());
    if (archive_read_open(reader.get(), &feed, nullptr, readCallback, nullptr) != ARCHIVE_OK)
        return readFault(reader.get(), feed);
    for (;;) {
        struct archive_entry* entry = nullptr;
        const int status = archive_read_next_header(reader.get(), &entry);
        if (status == ARCHIVE_EOF)
            break;
        // A warning is about a name that is not UTF-8, which the path rules refuse, or about attributes we do not read.
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
            return readFault(reader.get(), feed);
        if (auto taken = takeEntry(reader.get(), entry, feed, intake); !taken)
            return taken;
    }
    return feed.error ? Result<void>(std::unexpected(std::move(*feed.error))) : feed.drain();
}

} // namespace assay::registry
