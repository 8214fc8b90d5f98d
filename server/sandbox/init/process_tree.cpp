// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/init/process_tree.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::sandbox::init {

namespace {

constexpr int kMaxDepth = 32; // of a walk over the lists of children; deeper ones come up as their parents die

std::uint64_t microseconds(const timeval& time)
{
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
}

void killChildrenOf(pid_t parent, int depth)
{
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/task/%d/children", parent, parent);
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    char list[4096];
    const ssize_t got = ::read(fd, list, sizeof list - 1);
    ::close(fd);
    if (got <= 0)
        return;
    list[got] = '\0';
    for (char* at = list; *at != '\0';) {
        char* end = at;
        const long pid = std::strtol(at, &end, 10);
        // A number that the buffer cut off is not a process id; the next round reads it whole.
        if (end == at || *end != ' ')
            return;
        // The parent first: a shell that lives to see its child killed ends by itself, with a status of its own. What
        // it leaves becomes ours, and the next round finds it.
        ::kill(static_cast<pid_t>(pid), SIGKILL);
        if (depth < kMaxDepth)
            killChildrenOf(static_cast<pid_t>(pid), depth + 1);
        at = end + 1;
    }
}

} // namespace

ProcessTree::ProcessTree() : m_isProcessOne(::getpid() == 1)
{
    if (!m_isProcessOne)
        ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void ProcessTree::begin(pid_t leader)
{
    m_leader = leader;
    m_leaderDead = false;
    m_isEmpty = false;
    m_leaderStatus = 0;
    m_usage = {};
}

bool ProcessTree::reap()
{
    for (;;) {
        int status = 0;
        rusage used{};
        const pid_t pid = ::wait4(-1, &status, WNOHANG | __WALL, &used);
        if (pid < 0 && errno == EINTR)
            continue;
        m_isEmpty = pid < 0;
        if (pid <= 0)
            return m_leaderDead;
        m_usage.userTime += microseconds(used.ru_utime);
        m_usage.systemTime += microseconds(used.ru_stime);
        m_usage.maxRssBytes = std::max(m_usage.maxRssBytes, static_cast<std::uint64_t>(used.ru_maxrss) * 1024);
        if (pid == m_leader) {
            m_leaderDead = true;
            m_leaderStatus = status;
        }
    }
}

void ProcessTree::kill()
{
    // Only in a box is "everything but me" the tree; elsewhere it would be the whole machine.
    if (m_isProcessOne)
        ::kill(-1, SIGKILL);
    else
        killChildrenOf(::getpid(), 0);
}

} // namespace assay::sandbox::init
