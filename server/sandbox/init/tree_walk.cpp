// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/init/tree_walk.h"

#include "server/sandbox/init/beneath.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

// The low-level interface on purpose: EVP would bring its providers, their locks and their start time into a program
// that must start in microseconds.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

namespace assay::sandbox::init {

using channel::EntryKind;
using channel::FrameType;

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): m_path is written before it is read
TreeWalk::TreeWalk(Link& link, std::uint32_t stream, channel::Hashing hashing, std::uint32_t maxEntries)
    : m_link(link), m_stream(stream), m_hashing(hashing), m_maxEntries(maxEntries)
{}

bool TreeWalk::mayGoOn() const
{
    return m_link.state() == Link::State::Open && (m_flags & channel::kWalkTruncated) == 0;
}

void TreeWalk::run(int folder)
{
    visitFolder(folder, 0, 0);
    char buffer[8];
    channel::PayloadWriter writer(buffer);
    writer.number(m_flags).number(m_entries);
    if (m_link.makeSpace() == Link::State::Open)
        m_link.send(FrameType::WalkEnd, m_stream, writer.view());
}

void TreeWalk::noteMount(int folder)
{
    struct statvfs info{};
    if (::fstatvfs(folder, &info) != 0 || (info.f_flag & ST_RDONLY) == 0)
        m_flags &= static_cast<std::uint8_t>(~channel::kWalkAllReadOnly);
}

void TreeWalk::visitFolder(int folder, std::size_t pathLength, std::uint32_t depth)
{
    noteMount(folder);
    alignas(dirent64) char buffer[4096];
    for (;;) {
        const ssize_t got = ::getdents64(folder, buffer, sizeof buffer);
        if (got <= 0)
            return;
        for (ssize_t at = 0; at < got;) {
            const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
            at += entry->d_reclen;
            if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
                visitName(folder, entry->d_name, pathLength, depth);
            if (!mayGoOn())
                return;
        }
    }
}

void TreeWalk::visitName(int folder, const char* name, std::size_t pathLength, std::uint32_t depth)
{
    const std::size_t nameLength = std::strlen(name);
    if (m_entries >= m_maxEntries) {
        m_flags |= channel::kWalkTruncated;
        return;
    }
    // enterFolder never leaves less room than this needs: a separator, a name of 255 bytes.
    if (pathLength > 0)
        m_path[pathLength++] = '/';
    std::memcpy(m_path + pathLength, name, nameLength);
    pathLength += nameLength;
    struct stat info{};
    if (::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        sendEntry(EntryKind::Unreadable, 0, 0, pathLength);
    else if (S_ISDIR(info.st_mode))
        enterFolder(folder, name, pathLength, depth, info.st_mode);
    else if (S_ISREG(info.st_mode))
        sendEntry(hashFile(folder, name), info.st_mode, static_cast<std::uint64_t>(info.st_size), pathLength);
    else
        sendEntry(S_ISLNK(info.st_mode) ? EntryKind::Symlink : EntryKind::Special, info.st_mode, 0, pathLength);
}

void TreeWalk::enterFolder(int folder, const char* name, std::size_t pathLength, std::uint32_t depth, mode_t mode)
{
    if (depth + 1 >= channel::kMaxWalkDepth || pathLength + 1 + 255 >= sizeof m_path) {
        sendEntry(EntryKind::TooDeep, mode, 0, pathLength);
        return;
    }
    const int inner = openFolder(folder, name);
    sendEntry(inner < 0 ? EntryKind::Unreadable : EntryKind::Directory, mode, 0, pathLength);
    if (inner < 0)
        return;
    visitFolder(inner, pathLength, depth + 1);
    ::close(inner);
}

EntryKind TreeWalk::hashFile(int folder, const char* name)
{
    if (m_hashing == channel::Hashing::Off)
        return EntryKind::File;
    const int fd = openRegular(folder, name);
    if (fd < 0)
        return EntryKind::Unreadable;
    static char buffer[256 * 1024];
    SHA256_CTX context;
    SHA256_Init(&context);
    ssize_t got = 0;
    while ((got = ::read(fd, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR)) {
        if (got > 0)
            SHA256_Update(&context, buffer, static_cast<std::size_t>(got));
    }
    ::close(fd);
    SHA256_Final(m_hash, &context);
    return got == 0 ? EntryKind::File : EntryKind::Unreadable;
}

void TreeWalk::sendEntry(EntryKind kind, mode_t mode, std::uint64_t size, std::size_t pathLength)
{
    ++m_entries;
    char buffer[64 + channel::kMaxPathBytes];
    channel::PayloadWriter writer(buffer);
    const bool hashed = kind == EntryKind::File && m_hashing == channel::Hashing::On;
    writer.number(static_cast<std::uint8_t>(kind))
        .number(static_cast<std::uint32_t>(mode & 07777))
        .number(size)
        .text({reinterpret_cast<const char*>(m_hash), hashed ? kHashBytes : 0})
        .text({m_path, pathLength});
    if (m_link.makeSpace() == Link::State::Open)
        m_link.send(FrameType::Entry, m_stream, writer.view());
}

} // namespace assay::sandbox::init
