// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/unique_fd.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

namespace assay::runs {

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

} // namespace assay::runs
