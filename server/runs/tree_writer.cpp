// SPDX-License-Identifier: Apache-2.0
#include "server/runs/tree_writer.h"

#include "server/core/file_io.h"
#include "server/runs/folder_chain.h"
#include "server/runs/request_rules.h"

#include <algorithm>
#include <cstring>
#include <dirent.h>
#include <utility>

namespace assay::runs {

namespace {

constexpr std::string_view kHeader = "assay-package-v1\n";
constexpr std::uint64_t kMaxPathBytes = 512;
constexpr std::uint64_t kMaxFileBytes = 1ULL << 30; ///< far above what the server's limits let in
constexpr int kMaxDepth = 260;                      ///< a path of 512 bytes has at most 256 segments

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

std::uint64_t bigEndian(std::string_view field)
{
    std::uint64_t number = 0;
    for (const unsigned char byte : field)
        number = number << 8 | byte;
    return number;
}

std::unexpected<Error> badStream()
{
    return fail(ErrorCode::Internal, "a stored package is not of its canonical form");
}

} // namespace

struct TreeWriter::State
{
    enum class Head : std::uint8_t { Magic, PathLength, Path, ModeAndLength };

    explicit State(int theDirectory) : directory(theDirectory), folders(theDirectory) {}
    std::size_t wanted() const;
    Result<void> takeHead();
    Result<void> openFile(char mode, std::uint64_t bytes);
    Result<void> takeContent(std::string_view& piece);

    int directory;
    FolderChain folders;
    Head stage = Head::Magic;
    std::string head; ///< of the field that is being read
    std::size_t pathBytes = 0;
    std::string path;
    UniqueFd file;
    char mode = '0';
    std::uint64_t left = 0; ///< of the open file
    std::uint64_t total = 0;
};

std::size_t TreeWriter::State::wanted() const
{
    switch (stage) {
    case Head::Magic:
        return kHeader.size();
    case Head::PathLength:
        return 8;
    case Head::Path:
        return pathBytes;
    case Head::ModeAndLength:
        return 9;
    }
    return 0;
}

Result<void> TreeWriter::State::takeHead()
{
    const std::string field = std::exchange(head, {});
    switch (stage) {
    case Head::Magic:
        stage = Head::PathLength;
        return field == kHeader ? Result<void>{} : Result<void>(badStream());
    case Head::PathLength: {
        const auto bytes = bigEndian(field);
        if (bytes == 0 || bytes > kMaxPathBytes)
            return badStream();
        pathBytes = static_cast<std::size_t>(bytes);
        stage = Head::Path;
        return {};
    }
    case Head::Path:
        path = field;
        stage = Head::ModeAndLength;
        return isSafeRelativePath(path) ? Result<void>{} : Result<void>(badStream());
    case Head::ModeAndLength:
        stage = Head::PathLength;
        return openFile(field.front(), bigEndian(std::string_view(field).substr(1)));
    }
    return badStream();
}

Result<void> TreeWriter::State::openFile(char itsMode, std::uint64_t bytes)
{
    if ((itsMode != '0' && itsMode != '1') || bytes > kMaxFileBytes)
        return badStream();
    const auto slash = path.rfind('/');
    auto folder =
        folders.enter(slash == std::string::npos ? std::string_view{} : std::string_view(path).substr(0, slash));
    if (!folder)
        return forward(folder);
    const char* name = path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
    file.reset(::openat(*folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file)
        return failErrno("openat of a package's file", errno);
    mode = itsMode;
    left = bytes;
    total += bytes;
    std::string_view nothing;
    return left == 0 ? takeContent(nothing) : Result<void>{};
}

Result<void> TreeWriter::State::takeContent(std::string_view& piece)
{
    const auto content = piece.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size())));
    piece.remove_prefix(content.size());
    if (auto written = writeAll(file.get(), content); !written)
        return written;
    left -= content.size();
    if (left > 0)
        return {};
    if (::fchmod(file.get(), mode == '1' ? 0555 : 0444) != 0)
        return failErrno("fchmod of a package's file", errno);
    file.reset();
    return {};
}

TreeWriter::TreeWriter(int directory) : m_state(std::make_unique<State>(directory)) {}
TreeWriter::~TreeWriter() = default;

Result<void> TreeWriter::add(std::string_view piece)
{
    while (!piece.empty()) {
        if (m_state->file) {
            if (auto taken = m_state->takeContent(piece); !taken)
                return taken;
            continue;
        }
        const auto bytes = piece.substr(0, m_state->wanted() - m_state->head.size());
        m_state->head += bytes;
        piece.remove_prefix(bytes.size());
        if (m_state->head.size() < m_state->wanted())
            return {};
        if (auto taken = m_state->takeHead(); !taken)
            return taken;
    }
    return {};
}

Result<std::uint64_t> TreeWriter::finish()
{
    const bool complete = m_state->stage == State::Head::PathLength && m_state->head.empty() && !m_state->file;
    if (!complete)
        return badStream();
    if (auto sealed = m_state->folders.leaveTo(0); !sealed)
        return forward(sealed);
    if (::fchmod(m_state->directory, 0555) != 0)
        return failErrno("fchmod of a package's tree", errno);
    return m_state->total;
}

Result<std::uint64_t> writeTree(int directory, std::string_view canonicalStream)
{
    TreeWriter writer(directory);
    if (auto added = writer.add(canonicalStream); !added)
        return forward(added);
    return writer.finish();
}

Result<void> removeTree(int parent, const char* name) { return removeEntry(parent, name, 0); }

} // namespace assay::runs
