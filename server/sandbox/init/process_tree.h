// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace assay::sandbox::init {

/// What the processes of one command used, summed over all that were reaped. Times in microseconds.
struct TreeUsage
{
    std::uint64_t userTime = 0;
    std::uint64_t systemTime = 0;
    std::uint64_t maxRssBytes = 0; ///< of the largest single process
};

/// All processes below this one. Every descendant's orphan becomes a child of process 1 of the box, so "no child left"
/// proves that the tree is gone. Outside a box, where this is not process 1, the same is made of a child subreaper and
/// the kernel's lists of children.
class ProcessTree
{
public:
    ProcessTree();

    bool isProcessOne() const { return m_isProcessOne; }
    void begin(pid_t leader);

    /// Reaps every dead child. True once the leader is dead.
    bool reap();
    /// Sends SIGKILL to all processes. Call again until `isEmpty`: a process may have been born in between.
    void kill();
    /// After `reap`: no child is left.
    bool isEmpty() const { return m_isEmpty; }

    /// The leader's raw wait status (wait(2)); valid once `reap` returned true.
    int leaderStatus() const { return m_leaderStatus; }
    const TreeUsage& usage() const { return m_usage; }

private:
    bool m_isProcessOne;
    bool m_isEmpty = true;
    bool m_leaderDead = true;
    pid_t m_leader = -1;
    int m_leaderStatus = 0;
    TreeUsage m_usage;
};

} // namespace assay::sandbox::init
