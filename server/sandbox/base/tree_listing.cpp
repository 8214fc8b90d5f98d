// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/base/tree_listing.h"

#include "server/core/digest.h"
#include "server/core/file_io.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <format>
#include <sys/stat.h>
#include <vector>

namespace assay::sandbox::base {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxEntries = 1'000'000;

Result<std::string> hashFile(const fs::path& path)
{
    auto fd = openFile(path, O_RDONLY | O_NOFOLLOW);
    if (!fd)
        return forward(fd);
    Sha256 hash;
    std::array<char, 64U << 10> piece;
    for (;;) {
        const ssize_t got = ::read(fd->get(), piece.data(), piece.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return failErrno("read " + path.string(), errno);
        if (got == 0)
            return hash.finish().hex();
        hash.update({piece.data(), static_cast<std::size_t>(got)});
    }
}

Result<std::vector<std::string>> pathsBelow(const fs::path& root)
{
    std::vector<std::string> paths;
    std::error_code error;
    fs::recursive_directory_iterator at(root, error);
    for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
        paths.push_back(at->path().lexically_relative(root).string());
        if (paths.size() > kMaxEntries)
            return fail(ErrorCode::TooLarge, "the base has more than a million entries");
    }
    if (error)
        return failErrno("walk " + root.string(), error.value());
    std::ranges::sort(paths);
    return paths;
}

Result<void> append(TreeListing& listing, const fs::path& root, const std::string& path)
{
    struct stat info{};
    if (::lstat((root / path).c_str(), &info) != 0)
        return failErrno("stat " + path, errno);
    char type = 'd';
    std::string content;
    if (S_ISREG(info.st_mode)) {
        auto hash = hashFile(root / path);
        if (!hash)
            return forward(hash);
        type = 'f';
        content = std::move(*hash);
        listing.bytes += static_cast<std::uint64_t>(info.st_size);
    } else if (S_ISLNK(info.st_mode)) {
        std::error_code error;
        type = 'l';
        content = fs::read_symlink(root / path, error).string();
    } else if (!S_ISDIR(info.st_mode)) {
        return fail(ErrorCode::InvalidArgument, "the base holds a special file", path);
    }
    const unsigned mode = type == 'l' ? 0 : info.st_mode & 07777U;
    listing.text.append(path).append(1, '\0').append(1, type).append(1, '\0');
    listing.text.append(std::format("{:04o}", mode)).append(1, '\0').append(content).append(1, '\0').append(1, '\n');
    ++listing.entries;
    return {};
}

} // namespace

Result<TreeListing> listTree(const fs::path& root, std::stop_token cancel)
{
    auto paths = pathsBelow(root);
    if (!paths)
        return forward(paths);
    TreeListing listing{"assay-base-v1\n", 0, 0};
    for (const std::string& path : *paths) {
        if (cancel.stop_requested())
            return fail(ErrorCode::Cancelled, "reading the base was cancelled");
        if (auto done = append(listing, root, path); !done)
            return forward(done);
    }
    return listing;
}

} // namespace assay::sandbox::base
