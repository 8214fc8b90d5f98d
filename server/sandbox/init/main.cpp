// SPDX-License-Identifier: Apache-2.0
// assay-init: process 1 of a box. Speaks docs/channel-protocol.md on descriptors 0 and 1 and does nothing on its own.
#include "server/sandbox/init/session.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using namespace assay::sandbox;

void resetSignals()
{
    for (int number = 1; number < NSIG; ++number)
        ::signal(number, SIG_DFL);
    for (const int number : init::kIgnoredSignals)
        ::signal(number, SIG_IGN);
}

/// Only the channel and one descriptor for messages stay open.
void closeInherited()
{
    ::syscall(SYS_close_range, 3U, ~0U, 0U);
    if (::fcntl(2, F_GETFD) < 0) {
        const int fd = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (fd >= 0 && fd != 2) {
            ::dup2(fd, 2);
            ::close(fd);
        }
    }
    ::fcntl(2, F_SETFD, FD_CLOEXEC);
}

std::uint16_t harden(const init::ProcessTree& tree)
{
    std::uint16_t flags = tree.isProcessOne() ? channel::kIsProcessOne : std::uint16_t{0};
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0)
        flags |= channel::kIsUndumpable;
    if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        flags |= channel::kHasNoNewPrivileges;
    return flags;
}

bool setLimit(__rlimit_resource which, const char* text)
{
    char* end = nullptr;
    const unsigned long long value = ::strtoull(text, &end, 10);
    const rlimit limit{value, value};
    return *text >= '0' && *text <= '9' && *end == 0 && ::setrlimit(which, &limit) == 0;
}

/// `--limits PROCESSES DATA_BYTES`: where a box has no control groups, its driver has these inherited by every command.
/// Set in here, because the number of processes is counted for the box's user in the box's own user namespace.
bool applyLimits(int count, char** words)
{
    if (count == 1)
        return true;
    return count == 4 && ::strcmp(words[1], "--limits") == 0 && setLimit(RLIMIT_NPROC, words[2]) &&
           setLimit(RLIMIT_DATA, words[3]);
}

} // namespace

int main(int count, char** words)
{
    resetSignals();
    closeInherited();
    if (!applyLimits(count, words))
        return 2;
    init::ProcessTree tree;
    const std::uint16_t flags = harden(tree);
    // Large and kept out of the heap and the stack; made in place because static initialization would run too early.
    alignas(init::Link) static char linkPlace[sizeof(init::Link)];
    alignas(init::Session) static char sessionPlace[sizeof(init::Session)];
    auto* link = new (linkPlace) init::Link;
    auto* session = new (sessionPlace) init::Session(*link, tree, flags);
    return session->run();
}
