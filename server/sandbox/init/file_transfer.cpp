// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/init/file_transfer.h"

#include "server/sandbox/init/beneath.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::sandbox::init {

using channel::FrameType;

namespace {

void closeFd(int& fd)
{
    if (fd >= 0)
        ::close(fd);
    fd = -1;
}

} // namespace

void FileTransfer::sendFailed(std::uint32_t stream, int error)
{
    char buffer[256];
    channel::PayloadWriter writer(buffer);
    const char* text = ::strerrordesc_np(error);
    writer.number(static_cast<std::uint32_t>(error)).text(text ? text : "");
    if (m_link.makeSpace() == Link::State::Open)
        m_link.send(FrameType::Failed, stream, writer.view());
}

bool FileTransfer::beginPut(std::uint32_t stream, std::string_view payload)
{
    channel::PayloadReader reader(payload);
    const auto executable = reader.number<std::uint8_t>();
    m_expected = reader.number<std::uint64_t>();
    const std::string_view path = reader.text();
    if (!reader.finished() || executable > 1 || path.size() >= channel::kMaxPathBytes)
        return false;
    m_receiving = true;
    m_stream = stream;
    m_received = 0;
    m_error = 0;
    const char* name = nullptr;
    m_parent = openParent(m_workspace.directory(), path, MissingFolders::Make, m_name, name);
    // Whatever lies there is replaced and never written through: a link, a FIFO, somebody's hard link.
    if (m_parent < 0 || (::unlinkat(m_parent, m_name, 0) != 0 && errno != ENOENT)) {
        abandon(errno);
        return true;
    }
    const mode_t mode = executable ? 0755 : 0644;
    m_file = ::openat(m_parent, m_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (m_file < 0)
        abandon(errno);
    else
        ::fchmod(m_file, mode);
    return true;
}

void FileTransfer::abandon(int error)
{
    if (m_file >= 0)
        ::unlinkat(m_parent, m_name, 0);
    closeFd(m_file);
    closeFd(m_parent);
    m_error = error;
}

bool FileTransfer::takeBytes(std::string_view bytes)
{
    if (!m_receiving || bytes.size() > m_expected - m_received)
        return false;
    m_received += bytes.size();
    while (m_error == 0 && !bytes.empty()) {
        const ssize_t wrote = ::write(m_file, bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            abandon(errno);
        else
            bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return true;
}

bool FileTransfer::endPut()
{
    if (!m_receiving || m_received != m_expected)
        return false;
    if (m_error == 0 && m_workspace.isOverLimit())
        abandon(ENOSPC);
    closeFd(m_file);
    closeFd(m_parent);
    m_receiving = false;
    if (m_error != 0)
        sendFailed(m_stream, m_error);
    else if (m_link.makeSpace() == Link::State::Open)
        m_link.send(FrameType::Done, m_stream, {});
    return true;
}

bool FileTransfer::sendFile(std::uint32_t stream, std::string_view payload)
{
    channel::PayloadReader reader(payload);
    const auto limit = reader.number<std::uint64_t>();
    const std::string_view path = reader.text();
    if (!reader.finished() || path.size() >= channel::kMaxPathBytes)
        return false;
    int out = openFolder(m_workspace.directory(), "out");
    char buffer[256];
    const char* name = nullptr;
    int parent = out < 0 ? -1 : openParent(out, path, MissingFolders::Refuse, buffer, name);
    int file = parent < 0 ? -1 : openRegular(parent, name);
    const int error = errno;
    closeFd(out);
    closeFd(parent);
    if (file < 0)
        sendFailed(stream, error);
    else
        sendBytes(file, stream, limit);
    closeFd(file);
    return true;
}

void FileTransfer::sendBytes(int fd, std::uint32_t stream, std::uint64_t limit)
{
    std::uint64_t total = 0;
    while (m_link.makeSpace() == Link::State::Open) {
        const auto place = m_link.reserve(channel::kMaxPayload);
        const ssize_t got = ::read(fd, place.data(), place.size());
        if (got < 0 && errno == EINTR)
            continue;
        total += got > 0 ? static_cast<std::uint64_t>(got) : 0;
        if (got < 0 || total > limit) {
            sendFailed(stream, got < 0 ? errno : EFBIG);
            return;
        }
        if (got == 0) {
            m_link.send(FrameType::Done, stream, {});
            return;
        }
        m_link.commit(FrameType::FileBytes, stream, static_cast<std::size_t>(got));
    }
}

} // namespace assay::sandbox::init
