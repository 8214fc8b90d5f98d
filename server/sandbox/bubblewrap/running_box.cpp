// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/running_box.h"

#include <cerrno>
#include <csignal>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::sandbox::bubblewrap {

namespace {

constexpr auto kPatience = std::chrono::seconds(5);

void signalKill(int pidfd)
{
    if (pidfd >= 0)
        ::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
}

bool collect(LaunchedProcess& process, std::chrono::steady_clock::time_point deadline)
{
    if (!process.pidfd)
        return true;
    if (!awaitEnd(process.pidfd.get(), deadline))
        return false;
    siginfo_t info{};
    while (::waitid(P_PIDFD, static_cast<id_t>(process.pidfd.get()), &info, WEXITED) != 0 && errno == EINTR) {
    }
    process.pidfd.reset();
    return true;
}

} // namespace

bool endProcesses(LaunchedProcess& outer, const StartedInit& init, std::chrono::steady_clock::time_point deadline)
{
    // The init first and alone: bubblewrap then ends by itself, after the namespace. Killed before, it proves nothing.
    if (init.pidfd) {
        signalKill(init.pidfd.get());
        if (!awaitEnd(init.pidfd.get(), deadline))
            return false;
    } else {
        signalKill(outer.pidfd.get());
    }
    const auto soon = std::min(deadline, std::chrono::steady_clock::now() + std::chrono::milliseconds(500));
    if (collect(outer, soon))
        return true;
    signalKill(outer.pidfd.get());
    return collect(outer, deadline);
}

RunningBox::~RunningBox() { (void)destroy(); }

void RunningBox::kill() { signalKill(m_parts.init.pidfd.get()); }

BoxMeter RunningBox::meter() const
{
    const std::scoped_lock lock(m_mutex);
    if (m_parts.group)
        return m_parts.group->meter();
    return m_parts.soft ? m_parts.soft->meter(m_parts.init.pid) : m_last;
}

Result<void> RunningBox::destroy()
{
    if (m_gone)
        return {};
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    if (!endProcesses(m_parts.outer, m_parts.init, deadline))
        return fail(ErrorCode::Timeout, "a process of the box did not end within 5 s",
                    "left: process " + std::to_string(m_parts.init.pid));
    m_parts.channel.reset();
    const std::scoped_lock lock(m_mutex);
    if (m_parts.group) {
        m_last = m_parts.group->meter();
        if (auto removed = m_parts.group->destroy(deadline); !removed)
            return removed;
        m_parts.group.reset();
    }
    if (m_parts.soft) {
        m_last = m_parts.soft->meter(m_parts.init.pid);
        std::exchange(m_parts.soft, nullptr)->forget(m_parts.init.pid);
    }
    m_gone = true;
    if (m_parts.onGone)
        m_parts.onGone();
    return {};
}

} // namespace assay::sandbox::bubblewrap
