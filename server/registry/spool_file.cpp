// SPDX-License-Identifier: Apache-2.0
#include "server/registry/spool_file.h"

#include "server/core/file_io.h"

#include <cerrno>
#include <sys/mman.h>

namespace assay::registry {

namespace {

constexpr std::size_t kBufferBytes = 256 << 10;

} // namespace

Result<SpoolFile> SpoolFile::open(const std::filesystem::path& directory)
{
    auto fd = openUnnamedFile(directory);
    if (!fd)
        return forward(fd);
    return SpoolFile(std::move(*fd));
}

Result<void> SpoolFile::flush()
{
    auto written = writeAll(m_fd.get(), m_buffer);
    if (written)
        m_written += m_buffer.size();
    m_buffer.clear();
    return written;
}

Result<void> SpoolFile::append(std::string_view bytes)
{
    // Many small files make one write; a large one is not copied first.
    if (m_buffer.size() + bytes.size() <= kBufferBytes) {
        m_buffer += bytes;
        return {};
    }
    if (auto flushed = flush(); !flushed)
        return flushed;
    auto written = writeAll(m_fd.get(), bytes);
    if (written)
        m_written += bytes.size();
    return written;
}

Result<SpoolFile::Mapped> SpoolFile::map()
{
    if (auto flushed = flush(); !flushed)
        return forward(flushed);
    if (m_written == 0)
        return Mapped{};
    const std::size_t length = m_written;
    void* address = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, m_fd.get(), 0);
    if (address == MAP_FAILED)
        return failErrno("mmap of a spool file", errno);
    std::shared_ptr<const void> storage(address, [length](const void* p) { ::munmap(const_cast<void*>(p), length); });
    return Mapped{{static_cast<const char*>(address), length}, std::move(storage)};
}

} // namespace assay::registry
