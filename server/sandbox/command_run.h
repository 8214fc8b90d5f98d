// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/box_spec.h"
#include "server/sandbox/channel/client.h"
#include "server/sandbox/output_capture.h"
#include "server/sandbox/termination.h"

#include <stop_token>

namespace assay::sandbox {

/// One command on its way: feeds standard input, takes output, watches the deadline and the cancellation, and decides
/// nothing: `facts` says at the end what happened. One thread; used once.
class CommandRun
{
public:
    /// `wakeFd` is an eventfd that `cancel` makes readable.
    CommandRun(channel::Client& client, std::uint32_t stream, const Command& command, OutputSink& sink);

    /// Until the tree is dead and told so, or the channel ended, or the box did not obey within 5 s of a kill. An error
    /// only when the program could not be started: `NotFound` when it, its interpreter or the working directory is not
    /// there, `InvalidArgument` when it cannot be executed, `Unavailable` when the box can start nothing.
    Result<void> drive(std::string payload, const std::stop_token& cancel, int wakeFd, std::uint32_t stdinWindow);

    EndFacts& facts() { return m_facts; }
    /// True when the box did not answer a kill in time; it must be destroyed.
    bool isStuck() const { return m_stuck; }
    CommandResult takeResult();

private:
    using Clock = std::chrono::steady_clock;

    struct Flow
    {
        explicit Flow(std::uint64_t cap) : capture(cap) {}
        OutputCapture capture;
        std::uint64_t outstanding = channel::kOutputWindow; ///< what the box may still send
        std::uint32_t owed = 0;                             ///< credit to give back
    };

    Result<void> sendCommand(std::string payload);
    Result<void> feedStdin();
    Result<void> handle(const channel::Client::Frame& frame);
    Result<void> takeOutput(const channel::Client::Frame& frame, OutputStream stream);
    Result<void> takeCredit(std::string_view payload);
    Result<void> takeExit(std::string_view payload);
    std::unexpected<Error> execFailure(std::string_view payload);
    Result<void> giveCredit(Flow& flow, OutputStream stream);
    Result<void> checkLimits(const std::stop_token& cancel);
    Result<void> kill(KillReason reason);
    void noteLost();

    channel::Client& m_client;
    std::uint32_t m_stream;
    const Command& m_command;
    OutputSink& m_sink;
    Clock::time_point m_deadline;
    std::string_view m_stdinRest;
    std::uint64_t m_stdinCredit = 0;
    bool m_stdinEnded = false;
    Flow m_out;
    Flow m_err;
    std::uint64_t m_nextSequence = 0;
    bool m_ended = false;
    bool m_startFailed = false;
    bool m_stuck = false;
    EndFacts m_facts;
    CommandResult m_result;
    Clock::time_point m_started;
};

} // namespace assay::sandbox
