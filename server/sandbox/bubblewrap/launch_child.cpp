// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/launch_child.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The child shares memory with the running server and its thread-local data with the launcher's thread, which stands
// still meanwhile. So: system calls only. Where glibc's wrapper would act for all threads (set*id), the raw call is
// used.
#if defined(__clang__) || defined(__GNUC__)
#define ASSAY_NO_SANITIZE __attribute__((no_sanitize("address", "thread", "undefined")))
#endif

namespace assay::sandbox::bubblewrap {

namespace {

constexpr int kHighDescriptor = 64;

/// What the kernel's rt_sigaction takes; glibc's sigaction refuses the signals it uses itself.
struct KernelAction
{
    void* handler = nullptr;
    unsigned long flags = 0;
    void* restorer = nullptr;
    std::uint64_t mask = 0;
};

ASSAY_NO_SANITIZE bool failed(LaunchPlan& plan, const char* step, long status)
{
    if (status >= 0)
        return false;
    plan.failedStep = step;
    plan.failedErrno = errno;
    return true;
}

/// Ignored signals survive an exec; a box must start with every one at its default.
ASSAY_NO_SANITIZE void resetSignals()
{
    const KernelAction byDefault;
    for (int number = 1; number < 65; ++number)
        ::syscall(SYS_rt_sigaction, number, &byDefault, nullptr, sizeof byDefault.mask);
}

ASSAY_NO_SANITIZE bool joinGroups(LaunchPlan& plan)
{
    for (const int fd : plan.join)
        if (failed(plan, "join the control group", ::syscall(SYS_write, fd, "0", 1)))
            return false;
    return true;
}

ASSAY_NO_SANITIZE bool attachMounts(LaunchPlan& plan)
{
    if (plan.mounts.empty())
        return true;
    if (failed(plan, "unshare the mount namespace", ::syscall(SYS_unshare, CLONE_NEWNS)))
        return false;
    for (const StagedMount& mount : plan.mounts)
        if (failed(plan, "attach a mount",
                   ::syscall(SYS_move_mount, mount.fd, "", AT_FDCWD, mount.target, MOVE_MOUNT_F_EMPTY_PATH)))
            return false;
    return true;
}

/// First out of the way, then into place: a source may itself be one of the low numbers.
ASSAY_NO_SANITIZE bool arrangeDescriptors(LaunchPlan& plan)
{
    std::array<int, LaunchPlan::kMaxPassed> high{};
    for (std::size_t i = 0; i < plan.passed.size(); ++i) {
        high[i] = static_cast<int>(::syscall(SYS_fcntl, plan.passed[i], F_DUPFD, kHighDescriptor));
        if (failed(plan, "copy a descriptor", high[i]))
            return false;
    }
    plan.program = static_cast<int>(::syscall(SYS_fcntl, plan.program, F_DUPFD_CLOEXEC, kHighDescriptor));
    if (failed(plan, "copy the program's descriptor", plan.program))
        return false;
    for (std::size_t i = 0; i < plan.passed.size(); ++i)
        if (failed(plan, "place a descriptor", ::syscall(SYS_dup3, high[i], static_cast<int>(i), 0)))
            return false;
    const auto first = static_cast<unsigned>(plan.passed.size());
    return !failed(plan, "close the other descriptors", ::syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC));
}

ASSAY_NO_SANITIZE bool dropIdentity(LaunchPlan& plan)
{
    if (!plan.dropIdentity)
        return true;
    if (failed(plan, "drop the groups", ::syscall(SYS_setgroups, 0, nullptr)) ||
        failed(plan, "drop the group", ::syscall(SYS_setresgid, plan.gid, plan.gid, plan.gid)))
        return false;
    return !failed(plan, "drop the user", ::syscall(SYS_setresuid, plan.uid, plan.uid, plan.uid));
}

/// The kernel forgets it when the identity changes, so it is set after that; then the parent may be gone already.
ASSAY_NO_SANITIZE bool dieWithParent(LaunchPlan& plan)
{
    if (failed(plan, "tie to the server", ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)))
        return false;
    errno = ESRCH;
    return !failed(plan, "tie to the server", ::syscall(SYS_getppid) == plan.parent ? 0 : -1);
}

ASSAY_NO_SANITIZE void settle()
{
    const rlimit noCore{0, 0};
    ::syscall(SYS_prlimit64, 0, RLIMIT_CORE, &noCore, nullptr);
    ::syscall(SYS_umask, 022);
    // Away from the terminal's group: an interrupt typed at the server ends boxes by the server's own order.
    ::syscall(SYS_setsid);
    ::syscall(SYS_chdir, "/");
    const std::uint64_t none = 0;
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
}

} // namespace

ASSAY_NO_SANITIZE int runLaunchChild(void* argument)
{
    auto& plan = *static_cast<LaunchPlan*>(argument);
    resetSignals();
    if (joinGroups(plan) && attachMounts(plan) && arrangeDescriptors(plan) && dropIdentity(plan) &&
        dieWithParent(plan)) {
        settle();
        char* const none[] = {nullptr};
        failed(plan, "execute bubblewrap", ::syscall(SYS_execveat, plan.program, "", plan.argv, none, AT_EMPTY_PATH));
    }
    ::syscall(SYS_exit_group, 127);
    return 127;
}

} // namespace assay::sandbox::bubblewrap
