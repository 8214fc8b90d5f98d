// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/init/exec.h"
#include "server/sandbox/init/link.h"
#include "server/sandbox/init/process_tree.h"
#include "server/sandbox/init/workspace.h"

#include <poll.h>

namespace assay::sandbox::init {

/// The one command of a box: its process, its three pipes, its end. Driven by the loop of `Session`; never blocks.
///
/// Idle -> Running -> Ending (every process gets SIGKILL until none is left) -> Draining (the rest of the pipes) ->
/// Idle
class Command
{
public:
    Command(Link& link, ProcessTree& tree, const Workspace& workspace);

    bool isIdle() const { return m_phase == Phase::Idle; }
    std::uint32_t stream() const { return m_stream; }

    /// Each answers false for what the protocol does not allow.
    bool start(std::uint32_t stream, std::string_view payload);
    bool takeStdin(std::string_view bytes);
    void endStdin();
    bool takeCredit(channel::Flow flow, std::uint32_t bytes);
    /// The server ends the command: cancelled, too late, over its cap.
    void kill();

    static constexpr std::size_t kPolled = 3;
    /// What to wait for now; unused entries have descriptor -1.
    void poll(pollfd (&entries)[kPolled]) const;
    /// How long at most to wait, in milliseconds; -1 without limit.
    int patience() const;
    /// Moves everything that can move.
    void advance(const pollfd (&entries)[kPolled]);

private:
    enum class Phase : std::uint8_t { Idle, Running, Ending, Draining };

    struct Output
    {
        int fd = -1;
        std::uint32_t credit = 0;
        std::uint64_t total = 0;
        channel::FrameType type{};
        bool drained = false; ///< with every writer dead: nothing more can come
    };

    bool openPipes(int (&childEnds)[3]);
    void readOutput(Output& output);
    bool canRead(const Output& output) const;
    void writeStdin();
    void closeStdin();
    void watchQuota();
    void stepEnd();
    void reportExit();
    void fail(int error, channel::ExecStage stage);

    static constexpr std::size_t kStdinBytes = channel::kStdinWindow;

    Link& m_link;
    ProcessTree& m_tree;
    const Workspace& m_workspace;
    Phase m_phase = Phase::Idle;
    std::uint32_t m_stream = 0;
    std::uint64_t m_start = 0;     ///< microseconds, monotonic
    std::uint64_t m_wall = 0;      ///< of the process alone
    std::uint64_t m_nextCheck = 0; ///< of the quota
    std::uint64_t m_sequence = 0;
    std::uint8_t m_flags = 0;
    Output m_outputs[2];
    int m_stdinFd = -1;
    bool m_stdinEnded = false;
    std::size_t m_stdinBegin = 0;
    std::size_t m_stdinSize = 0;
    std::uint32_t m_stdinOwed = 0; ///< credit to give back
    char m_stdin[kStdinBytes];
};

} // namespace assay::sandbox::init
