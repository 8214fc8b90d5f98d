// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/init/command.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace assay::sandbox::init {

using channel::ExecStage;
using channel::Flow;
using channel::FrameType;

namespace {

constexpr std::uint64_t kQuotaInterval = 50'000; // microseconds
constexpr int kEndingPatience = 1;               // milliseconds between two rounds of SIGKILL
// Kept free in the outgoing buffer for the frames that report, so that output can never crowd them out.
constexpr std::size_t kReserved = 1024;

std::uint64_t now()
{
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_nsec) / 1000;
}

void closeFd(int& fd)
{
    if (fd >= 0)
        ::close(fd);
    fd = -1;
}

} // namespace

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): pages nobody touched cost nothing
Command::Command(Link& link, ProcessTree& tree, const Workspace& workspace)
    : m_link(link), m_tree(tree), m_workspace(workspace)
{}

bool Command::openPipes(int (&childEnds)[3])
{
    int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    bool ok = true;
    for (auto& ends : pipes)
        ok = ok && ::pipe2(ends, O_CLOEXEC) == 0;
    m_stdinFd = pipes[0][1];
    m_outputs[0].fd = pipes[1][0];
    m_outputs[1].fd = pipes[2][0];
    childEnds[0] = pipes[0][0];
    childEnds[1] = pipes[1][1];
    childEnds[2] = pipes[2][1];
    // Only our ends: the flag belongs to the open pipe end, and a command may expect blocking ones.
    for (const int fd : {m_stdinFd, m_outputs[0].fd, m_outputs[1].fd})
        ok = ok && ::fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
    return ok;
}

bool Command::start(std::uint32_t stream, std::string_view payload)
{
    ExecRequest request;
    m_outputs[0] = {.type = FrameType::Stdout};
    m_outputs[1] = {.type = FrameType::Stderr};
    if (!isIdle() || !decodeExecRequest(payload, request, m_outputs[0].credit, m_outputs[1].credit))
        return false;
    m_stream = stream;
    m_sequence = m_wall = 0;
    m_flags = 0;
    m_stdinEnded = false;
    m_stdinBegin = m_stdinSize = m_stdinOwed = 0;
    int childEnds[3];
    ExecOutcome outcome{-1, 0, ExecStage::Pipes};
    m_start = now();
    m_nextCheck = m_start + kQuotaInterval;
    if (openPipes(childEnds))
        outcome = startProcess(request, childEnds);
    else
        outcome.error = errno;
    for (int& fd : childEnds)
        closeFd(fd);
    if (outcome.pid < 0) {
        fail(outcome.error, outcome.stage);
        return true;
    }
    m_tree.begin(outcome.pid);
    m_phase = Phase::Running;
    return true;
}

void Command::fail(int error, ExecStage stage)
{
    closeFd(m_stdinFd);
    closeFd(m_outputs[0].fd);
    closeFd(m_outputs[1].fd);
    char buffer[256];
    channel::PayloadWriter writer(buffer);
    const char* text = ::strerrordesc_np(error);
    writer.number(static_cast<std::uint32_t>(error)).number(static_cast<std::uint8_t>(stage)).text(text ? text : "");
    m_link.send(FrameType::ExecFailed, m_stream, writer.view());
}

bool Command::takeStdin(std::string_view bytes)
{
    if (m_stdinEnded || bytes.size() > kStdinBytes - m_stdinSize - m_stdinOwed)
        return false;
    if (m_stdinFd < 0)
        return true; // the process closed its end; what was on its way is dropped
    const std::size_t end = (m_stdinBegin + m_stdinSize) % kStdinBytes;
    const std::size_t first = std::min(bytes.size(), kStdinBytes - end);
    std::memcpy(m_stdin + end, bytes.data(), first);
    std::memcpy(m_stdin, bytes.data() + first, bytes.size() - first);
    m_stdinSize += bytes.size();
    writeStdin();
    return true;
}

void Command::endStdin()
{
    m_stdinEnded = true;
    writeStdin();
}

void Command::closeStdin()
{
    if (m_stdinFd < 0)
        return;
    closeFd(m_stdinFd);
    if (!m_stdinEnded && m_link.space() > 0)
        m_link.send(FrameType::StdinClosed, m_stream, {});
}

void Command::writeStdin()
{
    while (m_stdinFd >= 0 && m_stdinSize > 0) {
        const std::size_t piece = std::min(m_stdinSize, kStdinBytes - m_stdinBegin);
        const ssize_t wrote = ::write(m_stdinFd, m_stdin + m_stdinBegin, piece);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0 && errno == EAGAIN)
            break;
        if (wrote < 0) {
            closeStdin();
            return;
        }
        m_stdinBegin = (m_stdinBegin + static_cast<std::size_t>(wrote)) % kStdinBytes;
        m_stdinSize -= static_cast<std::size_t>(wrote);
        m_stdinOwed += static_cast<std::uint32_t>(wrote);
    }
    if (m_stdinEnded && m_stdinSize == 0)
        closeStdin();
    if (m_stdinOwed >= kStdinBytes / 4 && !m_stdinEnded && m_link.space() >= kReserved) {
        char buffer[8];
        channel::PayloadWriter writer(buffer);
        writer.number(static_cast<std::uint8_t>(Flow::Stdin)).number(m_stdinOwed);
        m_link.send(FrameType::Credit, m_stream, writer.view());
        m_stdinOwed = 0;
    }
}

bool Command::takeCredit(Flow flow, std::uint32_t bytes)
{
    if (flow != Flow::Stdout && flow != Flow::Stderr)
        return false;
    Output& output = m_outputs[flow == Flow::Stdout ? 0 : 1];
    if (bytes > channel::kMaxCredit - output.credit)
        return false;
    output.credit += bytes;
    return true;
}

void Command::kill()
{
    // A process that is dead already has ended by itself, whatever the server wanted.
    if (m_phase != Phase::Running || m_tree.reap())
        return;
    m_flags |= channel::kKilledByServer;
    m_phase = Phase::Ending;
}

bool Command::canRead(const Output& output) const
{
    return output.fd >= 0 && output.credit > 0 && m_link.space() > kReserved + channel::kOutputPrefix;
}

void Command::poll(pollfd (&entries)[kPolled]) const
{
    for (std::size_t i = 0; i < 2; ++i)
        entries[i] = {canRead(m_outputs[i]) ? m_outputs[i].fd : -1, POLLIN, 0};
    entries[2] = {m_stdinSize > 0 ? m_stdinFd : -1, POLLOUT, 0};
}

int Command::patience() const
{
    if (m_phase == Phase::Ending)
        return kEndingPatience;
    if (m_phase != Phase::Running)
        return -1;
    const std::uint64_t time = now();
    return time >= m_nextCheck ? 0 : static_cast<int>((m_nextCheck - time + 999) / 1000);
}

void Command::readOutput(Output& output)
{
    const std::size_t size = std::min({static_cast<std::size_t>(output.credit), channel::kMaxOutputBytes,
                                       m_link.space() - kReserved - channel::kOutputPrefix});
    const auto place = m_link.reserve(size + channel::kOutputPrefix);
    const ssize_t got = ::read(output.fd, place.data() + channel::kOutputPrefix, size);
    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0) {
        output.drained = got == 0 || errno != EAGAIN || m_tree.isEmpty();
        if (got == 0 || errno != EAGAIN)
            closeFd(output.fd);
        return;
    }
    channel::PayloadWriter(place.first(channel::kOutputPrefix)).number(m_sequence++).number(now() - m_start);
    m_link.commit(output.type, m_stream, channel::kOutputPrefix + static_cast<std::size_t>(got));
    output.credit -= static_cast<std::uint32_t>(got);
    output.total += static_cast<std::uint64_t>(got);
}

void Command::watchQuota()
{
    const std::uint64_t time = now();
    if (time < m_nextCheck)
        return;
    m_nextCheck = time + kQuotaInterval;
    if (m_workspace.isOverLimit()) {
        m_flags |= channel::kOverQuota;
        m_phase = Phase::Ending;
    }
}

void Command::advance(const pollfd (&entries)[kPolled])
{
    if (isIdle())
        return;
    for (std::size_t i = 0; i < 2; ++i) {
        if ((entries[i].revents != 0 || m_phase == Phase::Draining) && canRead(m_outputs[i]))
            readOutput(m_outputs[i]);
    }
    if (entries[2].revents != 0)
        writeStdin();
    if (m_phase == Phase::Running)
        watchQuota();
    stepEnd();
}

void Command::stepEnd()
{
    const bool leaderDead = m_tree.reap();
    if (leaderDead && m_wall == 0)
        m_wall = now() - m_start;
    if (m_phase == Phase::Running && leaderDead)
        m_phase = Phase::Ending;
    if (m_phase == Phase::Ending) {
        if (!m_tree.isEmpty()) {
            m_tree.kill();
            m_tree.reap();
        }
        if (!m_tree.isEmpty())
            return;
        if (m_wall == 0)
            m_wall = now() - m_start;
        m_phase = Phase::Draining;
        m_stdinEnded = true;
        m_stdinSize = 0;
        closeFd(m_stdinFd);
    }
    if (m_phase != Phase::Draining)
        return;
    for (Output& output : m_outputs) {
        while (!output.drained && canRead(output))
            readOutput(output);
    }
    const auto finished = [](const Output& output) { return output.fd < 0 || output.drained; };
    if (finished(m_outputs[0]) && finished(m_outputs[1]) && m_link.space() >= kReserved / 2)
        reportExit();
}

void Command::reportExit()
{
    for (Output& output : m_outputs)
        closeFd(output.fd);
    if (m_workspace.isOverLimit())
        m_flags |= channel::kOverQuota;
    char buffer[128];
    channel::PayloadWriter writer(buffer);
    const TreeUsage& usage = m_tree.usage();
    writer.number(static_cast<std::uint32_t>(m_tree.leaderStatus()))
        .number(m_flags)
        .number(m_wall)
        .number(usage.userTime)
        .number(usage.systemTime)
        .number(usage.maxRssBytes)
        .number(m_sequence)
        .number(m_outputs[0].total)
        .number(m_outputs[1].total);
    m_link.send(FrameType::Exit, m_stream, writer.view());
    m_phase = Phase::Idle;
}

} // namespace assay::sandbox::init
