// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/seccomp/filter.h"

#include "server/core/file_io.h"
#include "server/core/unique_fd.h"
#include "server/sandbox/seccomp/calls.h"

#include <array>
#include <cerrno>
#include <memory>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace assay::sandbox::seccomp {

namespace {

/// The kernel reads these arguments as 32-bit values and drops the upper half, so a comparison must do the same.
constexpr std::uint64_t kLow32 = 0xffff'ffffULL;
constexpr std::size_t kMaxProgramBytes = 4096 * 8;
constexpr unsigned kHighestFamily = 63;

struct Release
{
    void operator()(void* context) const { seccomp_release(context); }
};

/// Collects the first failure of many rules: what a rule cannot say must not be left out in silence.
class Rules
{
public:
    explicit Rules(std::uint32_t defaultAction) : m_context(seccomp_init(defaultAction))
    {
        if (!m_context)
            note(-ENOMEM, "seccomp_init");
        else
            configure();
    }

    void add(std::uint32_t action, std::string_view call)
    {
        if (const auto number = resolve(call))
            note(seccomp_rule_add_array(m_context.get(), action, *number, 0, nullptr), call);
    }

    /// Applies `action` when `(argument & mask) == value`.
    void addWhen(std::uint32_t action, std::string_view call, unsigned argument, std::uint64_t mask,
                 std::uint64_t value)
    {
        const auto number = resolve(call);
        if (!number)
            return;
        const scmp_arg_cmp comparison{argument, SCMP_CMP_MASKED_EQ, mask, value};
        note(seccomp_rule_add_array(m_context.get(), action, *number, 1, &comparison), call);
    }

    Result<std::string> program()
    {
        UniqueFd file(::memfd_create("assay-filter", MFD_CLOEXEC));
        if (!file)
            return failErrno("memfd_create", errno);
        if (m_error == 0)
            note(seccomp_export_bpf(m_context.get(), file.get()), "export");
        if (m_error != 0)
            return fail(ErrorCode::Unavailable, "the system call filter cannot be compiled on this machine",
                        "libseccomp: " + m_where + ": error " + std::to_string(-m_error));
        std::string bytes(kMaxProgramBytes, '\0');
        const ssize_t got = ::pread(file.get(), bytes.data(), bytes.size(), 0);
        if (got <= 0)
            return failErrno("read the compiled filter", errno);
        bytes.resize(static_cast<std::size_t>(got));
        return bytes;
    }

private:
    void configure()
    {
        // Another ABI (i386 on x86-64, x32) would number the calls differently and slip past the list.
        note(seccomp_attr_set(m_context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "foreign ABI");
        note(seccomp_attr_set(m_context.get(), SCMP_FLTATR_CTL_NNP, 0), "no_new_privs");
        note(seccomp_attr_set(m_context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2), "binary tree");
    }

    std::optional<int> resolve(std::string_view call)
    {
        const int number = seccomp_syscall_resolve_name(std::string(call).c_str());
        // Negative numbers are calls of other architectures that this one does not have.
        return number >= 0 && m_error == 0 ? std::optional(number) : std::nullopt;
    }

    void note(int status, std::string_view where)
    {
        if (status == 0 || m_error != 0)
            return;
        m_error = status;
        m_where = where;
    }

    std::unique_ptr<void, Release> m_context;
    int m_error = 0;
    std::string m_where;
};

bool isAllowed(Families families, unsigned family)
{
    if (family == AF_UNIX)
        return true;
    return families == Families::UnixAndInternet && (family == AF_INET || family == AF_INET6);
}

Result<std::string> surface(Families families)
{
    Rules rules(SCMP_ACT_ERRNO(ENOSYS));
    for (const std::string_view call : allowedCalls())
        rules.add(SCMP_ACT_ALLOW, call);
    for (const std::string_view call : refusedCalls())
        rules.add(SCMP_ACT_ERRNO(EPERM), call);
    // What `arguments` narrows further; clone3 stays out: its flags lie in memory that a filter cannot read, and with
    // ENOSYS every C library falls back to clone.
    rules.add(SCMP_ACT_ALLOW, "clone");
    rules.add(SCMP_ACT_ALLOW, "ioctl");
    for (unsigned family = 0; family <= kHighestFamily; ++family)
        if (isAllowed(families, family))
            rules.addWhen(SCMP_ACT_ALLOW, "socket", 0, kLow32, family);
    rules.addWhen(SCMP_ACT_ALLOW, "socketpair", 0, kLow32, AF_UNIX);
    // Of itself only: 0 names the caller, every other number may be somebody else.
    rules.addWhen(SCMP_ACT_ALLOW, "prlimit64", 0, kLow32, 0);
    rules.addWhen(SCMP_ACT_ALLOW, "sched_setaffinity", 0, kLow32, 0);
    // PER_LINUX, with or without the 3 GB layout that old runtimes ask for, and the question alone.
    for (const std::uint64_t persona : {0x0ULL, 0x8ULL, 0x20000ULL, 0x20008ULL, 0xffff'ffffULL})
        rules.addWhen(SCMP_ACT_ALLOW, "personality", 0, kLow32, persona);
    return rules.program();
}

Result<std::string> arguments(Families families)
{
    Rules rules(SCMP_ACT_ALLOW);
    // CLONE_NEWTIME is missing on purpose: in clone its bit belongs to the exit signal, so clone cannot ask for it.
    for (const std::uint64_t flag :
         {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP})
        rules.addWhen(SCMP_ACT_ERRNO(EPERM), "clone", 0, flag, flag);
    // They type into, or take over, the terminal of whoever looks.
    rules.addWhen(SCMP_ACT_ERRNO(EPERM), "ioctl", 1, kLow32, TIOCSTI);
    rules.addWhen(SCMP_ACT_ERRNO(EPERM), "ioctl", 1, kLow32, TIOCLINUX);
    // The honest answer for a family that is not there; callers know how to go on from it.
    for (unsigned family = 0; family <= kHighestFamily; ++family)
        if (!isAllowed(families, family))
            rules.addWhen(SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket", 0, kLow32, family);
    rules.add(SCMP_ACT_ERRNO(ENOSYS), "clone3");
    return rules.program();
}

} // namespace

Result<Filter> compileFilter(Families families)
{
    auto calls = surface(families);
    if (!calls)
        return forward(calls);
    auto details = arguments(families);
    if (!details)
        return forward(details);
    return Filter{std::move(*calls), std::move(*details)};
}

} // namespace assay::sandbox::seccomp
