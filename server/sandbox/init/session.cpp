// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/init/session.h"

#include "server/sandbox/init/beneath.h"
#include "server/sandbox/init/tree_walk.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

namespace assay::sandbox::init {

using channel::FrameType;

namespace {

constexpr int kViolationStatus = 70; // EX_SOFTWARE of sysexits.h

int watchChildren()
{
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGCHLD);
    ::sigprocmask(SIG_SETMASK, &set, nullptr);
    return ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

bool copyPath(std::string_view text, char (&path)[channel::kMaxPathBytes])
{
    if (text.empty() || text.size() >= sizeof path || text.find('\0') != std::string_view::npos)
        return false;
    std::memcpy(path, text.data(), text.size());
    path[text.size()] = '\0';
    return true;
}

} // namespace

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): pages nobody touched cost nothing
Session::Session(Link& link, ProcessTree& tree, std::uint16_t helloFlags)
    : m_link(link),
      m_tree(tree),
      m_command(link, tree, m_workspace),
      m_files(link, m_workspace),
      m_helloFlags(helloFlags),
      m_signals(watchChildren())
{}

void Session::greet()
{
    char buffer[32];
    channel::PayloadWriter writer(buffer);
    writer.number(channel::kMagic).number(channel::kProtocolVersion).number(m_helloFlags).number(channel::kStdinWindow);
    m_link.send(FrameType::Hello, 0, writer.view());
}

int Session::run()
{
    greet();
    while (m_link.flush() == Link::State::Open) {
        wait();
        if (!handleFrames() || m_link.state() == Link::State::Violated) {
            endAll();
            return kViolationStatus;
        }
        if (m_link.state() == Link::State::Closed)
            break;
    }
    endAll();
    return 0;
}

void Session::wait()
{
    // The channel's two directions, the signals, and the command's three pipes.
    pollfd all[3 + Command::kPolled] = {
        {0, POLLIN, 0}, {m_link.hasOutput() ? 1 : -1, POLLOUT, 0}, {m_signals, POLLIN, 0}};
    pollfd ofCommand[Command::kPolled] = {{-1, 0, 0}, {-1, 0, 0}, {-1, 0, 0}};
    if (!m_command.isIdle())
        m_command.poll(ofCommand);
    std::memcpy(all + 3, ofCommand, sizeof ofCommand);
    const int ready = ::poll(all, std::size(all), m_command.patience());
    std::memcpy(ofCommand, all + 3, sizeof ofCommand);
    if (ready > 0 && all[2].revents != 0) {
        signalfd_siginfo info[8];
        while (::read(m_signals, info, sizeof info) > 0) {
        }
    }
    if (ready > 0 && all[0].revents != 0)
        m_link.receive();
    if (m_command.isIdle())
        m_tree.reap();
    else
        m_command.advance(ofCommand);
}

bool Session::handleFrames()
{
    Frame frame;
    while (m_link.next(frame)) {
        if (!handle(frame))
            return false;
    }
    return true;
}

bool Session::handle(const Frame& frame)
{
    if (!m_isSetUp)
        return frame.type == FrameType::Setup && frame.stream == 0 && setUp(frame.payload);
    switch (frame.type) {
    case FrameType::Stdin:
    case FrameType::StdinEnd:
    case FrameType::Kill:
    case FrameType::Credit:
        return handleRunning(frame);
    case FrameType::PutBytes:
        return m_files.isReceiving() && frame.stream == m_files.stream() && m_files.takeBytes(frame.payload);
    case FrameType::PutEnd:
        return m_files.isReceiving() && frame.stream == m_files.stream() && frame.payload.empty() && m_files.endPut();
    default:
        return m_command.isIdle() && !m_files.isReceiving() && handleNew(frame);
    }
}

bool Session::handleRunning(const Frame& frame)
{
    // What crossed with the command's end on the wire is late, not wrong.
    if (m_command.isIdle() || frame.stream != m_command.stream())
        return frame.stream <= m_lastStream && frame.stream != 0;
    channel::PayloadReader reader(frame.payload);
    switch (frame.type) {
    case FrameType::Stdin:
        return m_command.takeStdin(frame.payload);
    case FrameType::StdinEnd:
        m_command.endStdin();
        return frame.payload.empty();
    case FrameType::Kill:
        m_command.kill();
        return frame.payload.empty();
    default: {
        const auto flow = static_cast<channel::Flow>(reader.number<std::uint8_t>());
        const auto bytes = reader.number<std::uint32_t>();
        return reader.finished() && m_command.takeCredit(flow, bytes);
    }
    }
}

bool Session::handleNew(const Frame& frame)
{
    if (frame.type == FrameType::CommandPart)
        return takeCommandPart(frame.payload);
    if (frame.stream <= m_lastStream)
        return false;
    m_lastStream = frame.stream;
    switch (frame.type) {
    case FrameType::Run:
        return startCommand(frame);
    case FrameType::PutFile:
        return m_files.beginPut(frame.stream, frame.payload);
    case FrameType::ReadFile:
        return m_files.sendFile(frame.stream, frame.payload);
    case FrameType::Walk:
        return walk(frame);
    case FrameType::Measure:
        return frame.payload.empty() && measure(frame);
    default:
        return false;
    }
}

bool Session::setUp(std::string_view payload)
{
    channel::PayloadReader reader(payload);
    const auto version = reader.number<std::uint16_t>();
    const auto limit = reader.number<std::uint64_t>();
    char workspace[channel::kMaxPathBytes];
    const bool paths = copyPath(reader.text(), workspace) && copyPath(reader.text(), m_skills);
    if (!paths || !reader.finished() || version != channel::kProtocolVersion)
        return false;
    m_isSetUp = true;
    if (!m_workspace.open(workspace, limit))
        m_files.sendFailed(0, errno);
    else
        m_link.send(FrameType::Ready, 0, {});
    // Without a workspace nothing can be served; the server reads the reason, then the end.
    return m_workspace.directory() >= 0 || (m_link.flush(), false);
}

bool Session::takeCommandPart(std::string_view payload)
{
    if (payload.size() > sizeof m_parts - m_partBytes)
        return false;
    std::memcpy(m_parts + m_partBytes, payload.data(), payload.size());
    m_partBytes += payload.size();
    return true;
}

bool Session::startCommand(const Frame& frame)
{
    std::string_view payload = frame.payload;
    if (m_partBytes > 0) {
        if (!takeCommandPart(payload))
            return false;
        payload = {m_parts, m_partBytes};
        m_partBytes = 0;
    }
    return m_command.start(frame.stream, payload);
}

bool Session::walk(const Frame& frame)
{
    channel::PayloadReader reader(frame.payload);
    const auto root = static_cast<channel::WalkRoot>(reader.number<std::uint8_t>());
    const auto hashing = static_cast<channel::Hashing>(reader.number<std::uint8_t>());
    const auto entries = reader.number<std::uint32_t>();
    if (!reader.finished() || root > channel::WalkRoot::Skills || hashing > channel::Hashing::On ||
        entries > channel::kMaxWalkEntries)
        return false;
    const bool results = root == channel::WalkRoot::Results;
    const int folder = results ? openFolder(m_workspace.directory(), "out") : openFolder(AT_FDCWD, m_skills);
    if (folder < 0) {
        m_files.sendFailed(frame.stream, errno);
        return true;
    }
    TreeWalk(m_link, frame.stream, hashing, entries).run(folder);
    ::close(folder);
    return true;
}

bool Session::measure(const Frame& frame)
{
    Workspace::Usage usage;
    if (!m_workspace.measure(usage)) {
        m_files.sendFailed(frame.stream, errno);
        return true;
    }
    char buffer[64];
    channel::PayloadWriter writer(buffer);
    writer.number(usage.usedBytes).number(usage.capacityBytes).number(usage.usedInodes).number(usage.capacityInodes);
    if (m_link.makeSpace() == Link::State::Open)
        m_link.send(FrameType::Usage, frame.stream, writer.view());
    return true;
}

void Session::endAll()
{
    // Process 1 takes the rest with it by exiting; elsewhere two seconds of patience must do.
    for (int round = 0; round < 2000; ++round) {
        m_tree.reap();
        if (m_tree.isEmpty())
            return;
        m_tree.kill();
        const timespec pause{0, 1'000'000};
        ::nanosleep(&pause, nullptr);
    }
}

} // namespace assay::sandbox::init
