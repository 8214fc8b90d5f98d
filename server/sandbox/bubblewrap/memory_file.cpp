// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/memory_file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace assay::sandbox::bubblewrap {

namespace {

constexpr std::size_t kMaxText = 4096;

Result<UniqueFd> memoryFile(const char* name)
{
    UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd)
        return failErrno("memfd_create", errno);
    return fd;
}

} // namespace

Result<UniqueFd> sealedFile(const char* name, std::string_view bytes)
{
    auto fd = memoryFile(name);
    if (!fd)
        return fd;
    // pwrite keeps the offset at 0, where the reader starts.
    if (::pwrite(fd->get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        return failErrno("write a memory file", errno);
    if (::fcntl(fd->get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
        return failErrno("seal a memory file", errno);
    return fd;
}

Result<UniqueFd> boundedFile(const char* name, std::size_t bytes)
{
    auto fd = memoryFile(name);
    if (!fd)
        return fd;
    if (::ftruncate(fd->get(), static_cast<off_t>(bytes)) != 0)
        return failErrno("size a memory file", errno);
    if (::fcntl(fd->get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
        return failErrno("seal a memory file", errno);
    return fd;
}

std::string writtenText(int boundedFile)
{
    std::string text(kMaxText, '\0');
    const ssize_t got = ::pread(boundedFile, text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    text.resize(std::min(text.find('\0'), text.size()));
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    std::ranges::replace_if(text, [](unsigned char c) { return c < ' ' || c >= 0x7f; }, ' ');
    return text;
}

} // namespace assay::sandbox::bubblewrap
