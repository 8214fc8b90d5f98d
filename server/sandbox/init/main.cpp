// SPDX-License-Identifier: Apache-2.0
// assay-init: process 1 of a box. Speaks docs/channel-protocol.md on descriptors 0 and 1 and does nothing on its own.
#include "server/sandbox/init/session.h"

#include <csignal>
#include <fcntl.h>
#include <new>
#include <sys/prctl.h>
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

} // namespace

int main()
{
    resetSignals();
    closeInherited();
    init::ProcessTree tree;
    const std::uint16_t flags = harden(tree);
    // Large and kept out of the heap and the stack; made in place because static initialization would run too early.
    alignas(init::Link) static char linkPlace[sizeof(init::Link)];
    alignas(init::Session) static char sessionPlace[sizeof(init::Session)];
    auto* link = new (linkPlace) init::Link;
    auto* session = new (sessionPlace) init::Session(*link, tree, flags);
    return session->run();
}
