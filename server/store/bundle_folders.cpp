// SPDX-License-Identifier: Apache-2.0
#include "server/store/bundle_folders.h"

#include "server/core/file_io.h"
#include "server/core/unique_fd.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>

namespace assay::store {

namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

bool isHex(std::string_view text, std::size_t length)
{
    return text.size() == length && text.find_first_not_of(kHexDigits) == std::string_view::npos;
}

bool isShard(std::string_view name) { return isHex(name, 2); }
bool isBundleName(std::string_view name) { return isHex(name, 2 * Digest::kBytes); }

struct CloseFolder
{
    void operator()(DIR* stream) const { ::closedir(stream); }
};

/// The sorted names in a folder for which `isWanted`; none when it is gone or no folder.
Result<std::vector<std::string>> namesIn(int parent, const char* name, bool (*isWanted)(std::string_view))
{
    UniqueFd fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
        return std::vector<std::string>();
    if (!fd)
        return failErrno("open a folder of bundles", errno);
    const std::unique_ptr<DIR, CloseFolder> stream(::fdopendir(fd.get()));
    if (!stream)
        return failErrno("read a folder of bundles", errno);
    (void)fd.release();
    std::vector<std::string> out;
    while (const dirent* entry = ::readdir(stream.get()))
        if (isWanted(entry->d_name))
            out.emplace_back(entry->d_name);
    std::ranges::sort(out);
    return out;
}

Result<Digest> digestOf(std::string_view hex) { return Digest::parse("sha256:" + std::string(hex)); }

/// Lists one shard's bundles above `afterHex`, until `out` holds `limit`.
Result<void> listShard(int root, const std::string& scope, const std::string& shard, std::string_view afterHex,
                       std::uint32_t limit, std::vector<StoredBundle>& out)
{
    const std::string path = scope + "/" + shard;
    auto names = namesIn(root, path.c_str(), isBundleName);
    if (!names)
        return forward(names);
    for (auto name = std::ranges::upper_bound(*names, afterHex); name != names->end() && out.size() < limit; ++name) {
        struct stat info{};
        const std::string file = path + "/" + *name;
        const auto digest = digestOf(*name);
        if (digest && ::fstatat(root, file.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
            out.push_back({.key = {scope, *digest}, .sizeBytes = static_cast<std::uint64_t>(info.st_size)});
    }
    return {};
}

} // namespace

bool isFingerprint(std::string_view text) { return text.starts_with("sc_") && isHex(text.substr(3), 32); }

Result<std::vector<StoredBundle>> listBundleFiles(int root, const BundleKey* after, std::uint32_t limit)
{
    std::vector<StoredBundle> out;
    auto scopes = namesIn(root, ".", isFingerprint);
    if (!scopes)
        return forward(scopes);
    const std::string firstScope = after ? after->scopeFingerprint : std::string();
    for (auto scope = std::ranges::lower_bound(*scopes, firstScope); scope != scopes->end(); ++scope) {
        const std::string afterHex = after && *scope == firstScope ? after->digest.hex() : std::string();
        auto shards = namesIn(root, scope->c_str(), isShard);
        if (!shards)
            return forward(shards);
        for (auto shard = std::ranges::lower_bound(*shards, afterHex.substr(0, 2)); shard != shards->end(); ++shard) {
            if (auto listed = listShard(root, *scope, *shard, afterHex, limit, out); !listed)
                return forward(listed);
            if (out.size() >= limit)
                return out;
        }
    }
    return out;
}

std::optional<Timestamp> writtenAt(int folder, const std::string& name)
{
    struct stat info{};
    if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(info.st_mode))
        return std::nullopt;
    return Timestamp(std::chrono::seconds(info.st_mtim.tv_sec) + std::chrono::duration_cast<std::chrono::milliseconds>(
                                                                     std::chrono::nanoseconds(info.st_mtim.tv_nsec)));
}

Result<Removed> removeFiles(int folder, Timestamp writtenBefore, Removal removal,
                            const std::function<bool(const std::string& name)>& isInUse)
{
    auto names = namesIn(folder, ".", [](std::string_view name) { return name != "." && name != ".."; });
    if (!names)
        return forward(names);
    Removed out;
    for (const std::string& name : *names) {
        struct stat info{};
        const auto written = writtenAt(folder, name);
        if (!written || *written >= writtenBefore || isInUse(name) ||
            ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (removal == Removal::Real && ::unlinkat(folder, name.c_str(), 0) != 0)
            continue;
        ++out.count;
        out.bytes += static_cast<std::uint64_t>(info.st_size);
    }
    return out;
}

} // namespace assay::store
