// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/command_run.h"

#include "server/sandbox/channel/payload.h"
#include "server/sandbox/result_path.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/wait.h>

namespace assay::sandbox {

using channel::ExecStage;
using channel::FrameType;

namespace {

constexpr std::chrono::seconds kKillGrace{5};
constexpr std::uint32_t kCreditStep = channel::kOutputWindow / 4;

std::string errorText(std::uint32_t number, std::string_view text)
{
    return printablePath(text) + " (errno " + std::to_string(number) + ")";
}

} // namespace

CommandRun::CommandRun(channel::Client& client, std::uint32_t stream, const Command& command, OutputSink& sink)
    : m_client(client),
      m_stream(stream),
      m_command(command),
      m_sink(sink),
      m_stdinRest(command.stdinBytes),
      m_out(command.limits.outputBytes),
      m_err(command.limits.outputBytes),
      m_started(Clock::now())
{
    m_deadline = m_started + command.limits.wall;
}

Result<void> CommandRun::sendCommand(std::string payload)
{
    std::string_view rest = payload;
    for (; rest.size() > channel::kMaxPayload; rest.remove_prefix(channel::kMaxPayload)) {
        if (auto sent = m_client.send(FrameType::CommandPart, m_stream, rest.substr(0, channel::kMaxPayload)); !sent)
            return sent;
    }
    return m_client.send(FrameType::Run, m_stream, rest);
}

Result<void> CommandRun::feedStdin()
{
    while (!m_stdinEnded && !m_stdinRest.empty() && m_stdinCredit > 0) {
        const auto size = std::min<std::uint64_t>({m_stdinRest.size(), m_stdinCredit, channel::kMaxPayload});
        if (auto sent = m_client.send(FrameType::Stdin, m_stream, m_stdinRest.substr(0, size)); !sent)
            return sent;
        m_stdinRest.remove_prefix(size);
        m_stdinCredit -= size;
    }
    if (m_stdinEnded || !m_stdinRest.empty())
        return {};
    m_stdinEnded = true;
    return m_client.send(FrameType::StdinEnd, m_stream, {});
}

Result<void> CommandRun::drive(std::string payload, const std::stop_token& cancel, int wakeFd,
                               std::uint32_t stdinWindow)
{
    m_stdinCredit = stdinWindow;
    auto ok = sendCommand(std::move(payload));
    if (ok)
        ok = feedStdin();
    while (ok && !m_ended && !m_stuck) {
        // Once the kill is on its way there is nothing to be woken for.
        auto frame = m_client.next(m_deadline, m_facts.killReason == KillReason::None ? wakeFd : -1);
        if (!frame)
            ok = forward(frame);
        else if (*frame)
            ok = handle(**frame);
        if (ok && !m_ended)
            ok = checkLimits(cancel);
    }
    if (m_startFailed)
        return ok;
    if (!ok || m_stuck)
        noteLost();
    return {};
}

Result<void> CommandRun::checkLimits(const std::stop_token& cancel)
{
    const bool late = Clock::now() >= m_deadline;
    if (m_facts.killReason != KillReason::None) {
        m_stuck = late;
        return {};
    }
    if (cancel.stop_requested())
        return kill(KillReason::Cancelled);
    if (late)
        return kill(KillReason::Timeout);
    return m_facts.outputCapBroken ? kill(KillReason::OutputCap) : Result<void>{};
}

Result<void> CommandRun::kill(KillReason reason)
{
    m_facts.killReason = reason;
    m_deadline = Clock::now() + kKillGrace;
    return m_client.send(FrameType::Kill, m_stream, {});
}

void CommandRun::noteLost()
{
    m_facts.boxLost = true;
    m_facts.killTookEffect = m_facts.killReason != KillReason::None;
    m_result.wall = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - m_started);
}

Result<void> CommandRun::handle(const channel::Client::Frame& frame)
{
    if (frame.stream != m_stream)
        return m_client.breakOff("command: a frame of another stream");
    switch (frame.type) {
    case FrameType::Stdout:
        return takeOutput(frame, OutputStream::Stdout);
    case FrameType::Stderr:
        return takeOutput(frame, OutputStream::Stderr);
    case FrameType::Credit:
        return takeCredit(frame.payload);
    case FrameType::StdinClosed:
        m_stdinEnded = true;
        m_stdinRest = {};
        return {};
    case FrameType::Exit:
        return takeExit(frame.payload);
    case FrameType::ExecFailed:
        return execFailure(frame.payload);
    default:
        return m_client.breakOff("command: a frame out of turn");
    }
}

Result<void> CommandRun::takeOutput(const channel::Client::Frame& frame, OutputStream stream)
{
    Flow& flow = stream == OutputStream::Stdout ? m_out : m_err;
    channel::PayloadReader reader(frame.payload);
    const auto sequence = reader.number<std::uint64_t>();
    const auto microseconds = reader.number<std::uint64_t>();
    const std::string_view bytes = reader.rest();
    if (!reader.ok() || bytes.empty() || sequence != m_nextSequence || bytes.size() > flow.outstanding)
        return m_client.breakOff("command: output out of sequence or above its credit");
    ++m_nextSequence;
    flow.outstanding -= bytes.size();
    flow.owed += static_cast<std::uint32_t>(bytes.size());
    const std::string_view visible = flow.capture.add(bytes);
    if (!visible.empty())
        m_sink.onOutput({stream, sequence, std::chrono::milliseconds(microseconds / 1000), visible});
    if (flow.capture.isOverCap() && m_command.limits.outputMode == OutputMode::Terminate)
        m_facts.outputCapBroken = true;
    return giveCredit(flow, stream);
}

Result<void> CommandRun::giveCredit(Flow& flow, OutputStream stream)
{
    if (flow.owed < kCreditStep)
        return {};
    std::array<char, 8> buffer;
    channel::PayloadWriter writer(buffer);
    const auto which = stream == OutputStream::Stdout ? channel::Flow::Stdout : channel::Flow::Stderr;
    writer.number(static_cast<std::uint8_t>(which)).number(flow.owed);
    flow.outstanding += flow.owed;
    flow.owed = 0;
    return m_client.send(FrameType::Credit, m_stream, writer.view());
}

Result<void> CommandRun::takeCredit(std::string_view payload)
{
    channel::PayloadReader reader(payload);
    const auto flow = static_cast<channel::Flow>(reader.number<std::uint8_t>());
    const auto bytes = reader.number<std::uint32_t>();
    if (!reader.finished() || flow != channel::Flow::Stdin || m_stdinCredit + bytes > channel::kMaxCredit)
        return m_client.breakOff("command: malformed credit");
    m_stdinCredit += bytes;
    return feedStdin();
}

Result<void> CommandRun::takeExit(std::string_view payload)
{
    channel::PayloadReader reader(payload);
    const auto status = static_cast<int>(reader.number<std::uint32_t>());
    const auto flags = reader.number<std::uint8_t>();
    const auto wall = reader.number<std::uint64_t>();
    const auto user = reader.number<std::uint64_t>();
    const auto system = reader.number<std::uint64_t>();
    m_result.maxRssBytes = reader.number<std::uint64_t>();
    const bool complete = reader.number<std::uint64_t>() == m_nextSequence &&
                          reader.number<std::uint64_t>() == m_out.capture.totalBytes() &&
                          reader.number<std::uint64_t>() == m_err.capture.totalBytes();
    const bool killed = (flags & channel::kKilledByServer) != 0;
    if (!reader.finished() || !complete || !(WIFEXITED(status) || WIFSIGNALED(status)) ||
        (killed && m_facts.killReason == KillReason::None))
        return m_client.breakOff("command: an end that contradicts what came before");
    if (WIFEXITED(status))
        m_facts.exitCode = WEXITSTATUS(status);
    else
        m_facts.signal = WTERMSIG(status);
    m_facts.killTookEffect = killed;
    m_facts.overQuota = (flags & channel::kOverQuota) != 0;
    m_result.wall = std::chrono::milliseconds(wall / 1000);
    m_result.cpu = std::chrono::milliseconds(user / 1000 + system / 1000);
    m_ended = true;
    return {};
}

std::unexpected<Error> CommandRun::execFailure(std::string_view payload)
{
    channel::PayloadReader reader(payload);
    const auto number = reader.number<std::uint32_t>();
    const auto stage = static_cast<ExecStage>(reader.number<std::uint8_t>());
    const std::string text = errorText(number, reader.text());
    if (!reader.finished())
        return m_client.breakOff("command: malformed failure to start");
    m_ended = m_startFailed = true;
    const std::string program = printablePath(m_command.argv.front());
    const bool missing = number == ENOENT || number == ENOTDIR;
    if (stage == ExecStage::Directory)
        return fail(missing ? ErrorCode::NotFound : ErrorCode::InvalidArgument,
                    "the working directory " + printablePath(m_command.cwd) + " cannot be entered: " + text);
    if (stage == ExecStage::Interpreter)
        return fail(ErrorCode::NotFound, "the interpreter that the first line of " + program +
                                             " names is not in the box; check that line, and that it has no "
                                             "carriage return at its end");
    if (stage == ExecStage::Program && missing)
        return fail(ErrorCode::NotFound,
                    "there is no program " + program + " in the box; a name without a slash is looked up in PATH");
    if (stage == ExecStage::Program)
        return fail(ErrorCode::InvalidArgument, program + " cannot be executed: " + text +
                                                    "; it needs the executable bit and a first line like #!/bin/sh");
    return fail(ErrorCode::Unavailable, "the box cannot start a process: " + text,
                "stage " + std::to_string(static_cast<int>(stage)));
}

CommandResult CommandRun::takeResult()
{
    m_result.exitCode = m_facts.exitCode;
    m_result.signal = m_facts.signal;
    m_result.termination = terminationOf(m_facts);
    m_result.out = m_out.capture.take();
    m_result.err = m_err.capture.take();
    return std::move(m_result);
}

} // namespace assay::sandbox
