// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/init/beneath.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::sandbox::init {

namespace {

int failWith(int error, int opened)
{
    if (opened >= 0)
        ::close(opened);
    errno = error;
    return -1;
}

bool takeComponent(std::string_view& path, char (&buffer)[256])
{
    const std::string_view component = path.substr(0, path.find('/'));
    if (component.empty() || component == "." || component == ".." || component.size() >= sizeof buffer ||
        component.find('\0') != std::string_view::npos)
        return false;
    std::memcpy(buffer, component.data(), component.size());
    buffer[component.size()] = '\0';
    const bool last = component.size() == path.size();
    path.remove_prefix(last ? component.size() : component.size() + 1);
    // A slash at the very end would leave an empty component, which is refused as such.
    return last || !path.empty();
}

} // namespace

int openFolder(int folder, const char* name)
{
    return ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int openParent(int folder, std::string_view path, MissingFolders missing, char (&buffer)[256], const char*& name)
{
    int at = openFolder(folder, ".");
    while (at >= 0) {
        if (!takeComponent(path, buffer))
            return failWith(EINVAL, at);
        if (path.empty())
            break;
        if (missing == MissingFolders::Make && ::mkdirat(at, buffer, 0755) != 0 && errno != EEXIST)
            return failWith(errno, at);
        const int next = openFolder(at, buffer);
        const int error = errno;
        ::close(at);
        at = next;
        errno = error;
    }
    name = buffer;
    return at;
}

int openRegular(int folder, const char* name)
{
    const int fd = ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    struct stat info{};
    if (::fstat(fd, &info) != 0)
        return failWith(errno, fd);
    if (!S_ISREG(info.st_mode))
        return failWith(EINVAL, fd);
    return fd;
}

} // namespace assay::sandbox::init
