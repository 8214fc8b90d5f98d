// SPDX-License-Identifier: Apache-2.0
#include "server/registry/folder.h"

#include "server/core/file_io.h"
#include "server/registry/archive_fault.h"
#include "server/registry/archive_intake.h"
#include "server/registry/archive_layout.h"
#include "server/registry/limit_problems.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>

namespace assay::registry {

namespace {

constexpr std::size_t kMaxDepth = 64;

using Directory = std::unique_ptr<DIR, decltype([](DIR* dir) { ::closedir(dir); })>;

std::unexpected<Error> unreadable(const std::string& path, int errnoValue)
{
    return fail(ErrorCode::InvalidArgument,
                "cannot read " + inQuotes(path) + ": " + std::generic_category().message(errnoValue));
}

/// Follows links, but refuses to leave `root` (openat2(2)).
UniqueFd openBeneath(int root, const std::string& path)
{
    struct open_how how{};
    how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    return UniqueFd(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
}

std::string_view whyNotCopied(int errnoValue)
{
    switch (errnoValue) {
    case EXDEV:
        return "a link that leaves the skill's folder";
    case ENOENT:
        return "a link that points at nothing";
    case ELOOP:
        return "a link in a circle";
    default:
        return "a link that cannot be followed";
    }
}

std::string_view kindOf(mode_t mode)
{
    if (S_ISFIFO(mode))
        return "a FIFO";
    return S_ISSOCK(mode) ? "a socket" : "a device";
}

/// Walks one folder.
class Walker
{
public:
    Walker(UniqueFd root, FolderLinks links, const PackageLimits& limits)
        : m_root(std::move(root)),
          m_links(links),
          m_limits(limits),
          m_contents(std::make_shared<std::deque<std::string>>())
    {}
    Result<PackageSource> run();

private:
    struct Identity
    {
        dev_t device;
        ino_t inode;
        bool operator==(const Identity&) const = default;
    };

    Result<void> walk(UniqueFd directory, const std::string& prefix);
    Result<void> takeEntry(int directory, const std::string& name, const std::string& path);
    Result<void> takeLink(const std::string& path);
    Result<void> takeOpened(UniqueFd fd, const std::string& path);
    Result<void> takeFile(int fd, const struct stat& info, const std::string& path);

    UniqueFd m_root;
    FolderLinks m_links;
    PackageLimits m_limits;
    std::shared_ptr<std::deque<std::string>> m_contents;
    std::vector<SourceFile> m_files;
    std::vector<std::string> m_ignored;
    std::vector<std::string> m_copied;
    ProblemList m_problems;
    std::vector<Identity> m_above; ///< the folders from the root to the present one
    std::uint64_t m_entries = 0;
    std::uint64_t m_bytes = 0;
};

Result<std::vector<std::string>> namesIn(UniqueFd directory, const std::string& path)
{
    const Directory dir(::fdopendir(directory.get()));
    if (!dir)
        return unreadable(path, errno);
    directory.release(); // closedir closes it
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(dir.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..")
            names.emplace_back(name);
        errno = 0;
    }
    if (errno != 0)
        return unreadable(path, errno);
    std::ranges::sort(names);
    return names;
}

Result<void> Walker::walk(UniqueFd directory, const std::string& prefix)
{
    struct stat info{};
    if (::fstat(directory.get(), &info) != 0)
        return unreadable(prefix, errno);
    const Identity identity{info.st_dev, info.st_ino};
    if (m_above.size() >= kMaxDepth || std::ranges::contains(m_above, identity)) {
        m_problems.add(linkNotAllowed(prefix, "a folder in itself or nested too deep"));
        return {};
    }
    m_above.push_back(identity);
    const auto names = namesIn(UniqueFd(::fcntl(directory.get(), F_DUPFD_CLOEXEC, 0)), prefix);
    if (!names)
        return std::unexpected(names.error());
    for (const std::string& name : *names) {
        if (auto taken = takeEntry(directory.get(), name, prefix + name); !taken)
            return taken;
    }
    m_above.pop_back();
    return {};
}

Result<void> Walker::takeEntry(int directory, const std::string& name, const std::string& path)
{
    if (++m_entries > maxArchiveEntries(m_limits))
        return rejectArchive(tooManyFiles(m_entries, m_limits));
    struct stat info{};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
        return unreadable(path, errno);
    if (isIgnoredEntry(path)) {
        m_ignored.push_back(shownPath(S_ISDIR(info.st_mode) ? path + '/' : path));
        return {};
    }
    if (S_ISLNK(info.st_mode))
        return takeLink(path);
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
        m_problems.add(linkNotAllowed(path, kindOf(info.st_mode)));
        return {};
    }
    UniqueFd fd(::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!fd)
        return unreadable(path, errno);
    return takeOpened(std::move(fd), path);
}

Result<void> Walker::takeLink(const std::string& path)
{
    if (m_links == FolderLinks::Refuse) {
        m_problems.add(linkNotAllowed(path, "a symbolic link"));
        return {};
    }
    UniqueFd fd = openBeneath(m_root.get(), path);
    if (!fd) {
        m_problems.add(linkNotAllowed(path, whyNotCopied(errno)));
        return {};
    }
    m_copied.push_back(shownPath(path));
    return takeOpened(std::move(fd), path);
}

Result<void> Walker::takeOpened(UniqueFd fd, const std::string& path)
{
    struct stat info{};
    if (::fstat(fd.get(), &info) != 0)
        return unreadable(path, errno);
    if (S_ISDIR(info.st_mode))
        return walk(std::move(fd), path + '/');
    if (S_ISREG(info.st_mode))
        return takeFile(fd.get(), info, path);
    m_problems.add(linkNotAllowed(path, kindOf(info.st_mode)));
    return {};
}

Result<void> Walker::takeFile(int fd, const struct stat& info, const std::string& path)
{
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (size > m_limits.fileBytes) {
        m_problems.add(fileTooLarge(path, size, m_limits));
        return {};
    }
    if (m_files.size() >= m_limits.files)
        return rejectArchive(tooManyFiles(m_files.size() + 1, m_limits));
    m_bytes += size;
    if (m_bytes > m_limits.packageBytes)
        return rejectArchive(packageTooLarge(m_bytes, m_limits));
    auto content = readUpTo(fd, 0, size);
    if (!content)
        return unreadable(path, EIO);
    const std::string& kept = m_contents->emplace_back(std::move(*content));
    m_files.push_back({path, kept, (info.st_mode & S_IXUSR) != 0});
    return {};
}

Result<PackageSource> Walker::run()
{
    UniqueFd root(::fcntl(m_root.get(), F_DUPFD_CLOEXEC, 0));
    if (auto walked = walk(std::move(root), {}); !walked)
        return forward(walked);
    if (!m_problems.isEmpty())
        return rejectPackage(m_problems.take());
    PackageSource source(std::move(m_files), std::move(m_contents));
    source.ignored = std::move(m_ignored);
    source.copiedLinks = std::move(m_copied);
    return source;
}

} // namespace

Result<PackageSource> readFolder(const std::filesystem::path& folder, FolderLinks links, const PackageLimits& limits)
{
    UniqueFd root(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root && errno == ENOENT)
        return fail(ErrorCode::NotFound, "there is no folder " + inQuotes(folder.string()));
    if (!root)
        return unreadable(folder.string(), errno);
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(folder, error);
    auto source = Walker(std::move(root), links, limits).run();
    if (source && !error)
        source->topFolder = real.filename().string();
    return source;
}

} // namespace assay::registry
