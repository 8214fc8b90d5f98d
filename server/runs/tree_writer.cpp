// SPDX-License-Identifier: Apache-2.0
#include "server/runs/tree_writer.h"

#include "server/core/file_io.h"
#include "server/core/unique_fd.h"
#include "server/runs/request_rules.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace assay::runs {

namespace {

constexpr std::string_view kHeader = "assay-package-v1\n";
constexpr int kMaxDepth = 260; ///< a path of 512 bytes has at most 256 segments

/// Takes the fields of a canonical stream off its front.
class StreamReader
{
public:
    explicit StreamReader(std::string_view stream) : m_rest(stream) {}
    bool atEnd() const { return m_rest.empty(); }
    bool take(std::size_t count, std::string_view& out)
    {
        if (m_rest.size() < count)
            return false;
        out = m_rest.substr(0, count);
        m_rest.remove_prefix(count);
        return true;
    }
    /// A u64 big-endian length and as many bytes.
    bool takeCounted(std::string_view& out)
    {
        std::string_view length;
        if (!take(8, length))
            return false;
        std::uint64_t count = 0;
        for (const unsigned char byte : length)
            count = count << 8 | byte;
        return count <= m_rest.size() && take(count, out);
    }

private:
    std::string_view m_rest;
};

/// The chain of open folders down to the one that the last file went to. Files come in byte order, so a folder's files
/// are neighbours, apart from names like "a-b" between "a" and "a/"; a folder met again is entered again.
class FolderChain
{
public:
    explicit FolderChain(int root) : m_root(root) {}
    FolderChain(const FolderChain&) = delete;
    FolderChain& operator=(const FolderChain&) = delete;

    /// The descriptor of the folder `path` ("" is the root), made if need be.
    Result<int> enter(std::string_view path)
    {
        std::size_t kept = 0;
        std::string_view rest = path;
        while (kept < m_open.size() && !rest.empty() && segmentOf(rest) == m_open[kept].name) {
            skipSegment(rest);
            ++kept;
        }
        if (auto left = leaveTo(kept); !left)
            return forward(left);
        while (!rest.empty()) {
            if (auto entered = descend(segmentOf(rest)); !entered)
                return forward(entered);
            skipSegment(rest);
        }
        return current();
    }
    Result<void> leaveTo(std::size_t depth)
    {
        while (m_open.size() > depth) {
            if (::fchmod(m_open.back().fd.get(), 0555) != 0)
                return failErrno("fchmod of a package's folder", errno);
            m_open.pop_back();
        }
        return {};
    }

private:
    struct Folder
    {
        std::string name;
        UniqueFd fd;
    };
    static std::string_view segmentOf(std::string_view path) { return path.substr(0, path.find('/')); }
    static void skipSegment(std::string_view& path)
    {
        const auto slash = path.find('/');
        path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
    }
    int current() const { return m_open.empty() ? m_root : m_open.back().fd.get(); }

    Result<void> descend(std::string_view segment)
    {
        std::string name(segment);
        if (::mkdirat(current(), name.c_str(), 0700) != 0 && errno != EEXIST)
            return failErrno("mkdirat in a package's tree", errno);
        UniqueFd fd(::openat(current(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!fd)
            return failErrno("openat of a package's folder", errno);
        if (::fchmod(fd.get(), 0700) != 0) // sealed by an earlier visit
            return failErrno("fchmod of a package's folder", errno);
        m_open.push_back({std::move(name), std::move(fd)});
        return {};
    }

    int m_root;
    std::vector<Folder> m_open;
};

Result<void> writeFile(int folder, std::string_view name, char mode, std::string_view content)
{
    const std::string text(name);
    const UniqueFd fd(::openat(folder, text.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd)
        return failErrno("openat of a package's file", errno);
    if (auto written = writeAll(fd.get(), content); !written)
        return written;
    if (::fchmod(fd.get(), mode == '1' ? 0555 : 0444) != 0)
        return failErrno("fchmod of a package's file", errno);
    return {};
}

struct DirectoryCloser
{
    void operator()(DIR* directory) const { ::closedir(directory); }
};

Result<void> removeContent(UniqueFd folder, int depth);

Result<void> removeEntry(int folder, const char* name, int depth)
{
    if (::unlinkat(folder, name, 0) == 0 || errno == ENOENT)
        return {};
    if (errno != EISDIR && errno != EPERM)
        return failErrno("unlinkat in the package cache", errno);
    UniqueFd inner(::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!inner)
        return failErrno("openat in the package cache", errno);
    if (auto removed = removeContent(std::move(inner), depth + 1); !removed)
        return removed;
    if (::unlinkat(folder, name, AT_REMOVEDIR) != 0)
        return failErrno("unlinkat in the package cache", errno);
    return {};
}

Result<void> removeContent(UniqueFd folder, int depth)
{
    if (depth > kMaxDepth)
        return fail(ErrorCode::Internal, "a folder of the package cache is nested too deep to be removed");
    (void)::fchmod(folder.get(), 0700);
    const std::unique_ptr<DIR, DirectoryCloser> listing(::fdopendir(folder.get()));
    if (!listing)
        return failErrno("fdopendir in the package cache", errno);
    const int fd = folder.release(); // the stream owns it now
    while (const dirent* entry = ::readdir(listing.get())) {
        if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0)
            continue;
        if (auto removed = removeEntry(fd, entry->d_name, depth); !removed)
            return removed;
    }
    return {};
}

std::unexpected<Error> badStream()
{
    return fail(ErrorCode::Internal, "a stored package is not of its canonical form");
}

} // namespace

Result<std::uint64_t> writeTree(int directory, std::string_view canonicalStream)
{
    if (!canonicalStream.starts_with(kHeader))
        return badStream();
    StreamReader reader(canonicalStream.substr(kHeader.size()));
    FolderChain folders(directory);
    std::uint64_t total = 0;
    while (!reader.atEnd()) {
        std::string_view path;
        std::string_view mode;
        std::string_view content;
        if (!reader.takeCounted(path) || !reader.take(1, mode) || !reader.takeCounted(content) ||
            !isSafeRelativePath(path) || (mode != "0" && mode != "1"))
            return badStream();
        const auto slash = path.rfind('/');
        auto folder = folders.enter(slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash));
        if (!folder)
            return forward(folder);
        const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
        if (auto written = writeFile(*folder, name, mode.front(), content); !written)
            return forward(written);
        total += content.size();
    }
    if (auto sealed = folders.leaveTo(0); !sealed)
        return forward(sealed);
    if (::fchmod(directory, 0555) != 0)
        return failErrno("fchmod of a package's tree", errno);
    return total;
}

Result<void> removeTree(int parent, const char* name) { return removeEntry(parent, name, 0); }

} // namespace assay::runs
