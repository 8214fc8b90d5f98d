// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/box.h"

#include "server/sandbox/channel/client.h"
#include "server/sandbox/channel/payload.h"
#include "server/sandbox/command_encoding.h"
#include "server/sandbox/command_run.h"
#include "server/sandbox/package_check.h"
#include "server/sandbox/result_path.h"
#include "server/sandbox/results.h"
#include "server/sandbox/tree_listing.h"

#include <array>
#include <cerrno>
#include <sys/eventfd.h>

namespace assay::sandbox {

using channel::FrameType;

namespace {

constexpr std::chrono::seconds kGreetingDeadline{5};
constexpr std::chrono::seconds kMeasureDeadline{5};
constexpr std::chrono::seconds kTransferDeadline{60};
constexpr std::chrono::hours kMaxWall{24};
constexpr std::uint64_t kMaxOutputCap = 1ULL << 30;
constexpr std::uint32_t kMaxResultEntries = 50'000;
constexpr std::size_t kTransferBatch = 1024 * 1024;

auto in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

/// How much of the packages' tree to list at most: one more than there should be tells that there is too much.
std::uint32_t entriesOf(const std::vector<PinnedPackage>& packages)
{
    std::uint64_t count = 64;
    for (const PinnedPackage& package : packages)
        for (const PinnedFile& file : package.files)
            count += 1 + static_cast<std::uint64_t>(std::ranges::count(file.path, '/'));
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(count + packages.size(), channel::kMaxWalkEntries));
}

std::unexpected<Error> failedTransfer(std::string_view path, std::string_view payload)
{
    channel::PayloadReader reader(payload);
    const auto number = static_cast<int>(reader.number<std::uint32_t>());
    const std::string where = "the file " + printablePath(path) + " cannot be placed in the workspace: ";
    if (number == ENOSPC || number == EDQUOT)
        return fail(ErrorCode::TooLarge, where + "it is full; send less, or raise the limit workspace_bytes");
    return fail(ErrorCode::InvalidArgument, where + printablePath(reader.text()));
}

} // namespace

struct Box::State
{
    State(std::unique_ptr<BoxHandle> theHandle, BoxSpec theSpec)
        : handle(std::move(theHandle)),
          spec(std::move(theSpec)),
          client(handle->channel()),
          wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))
    {}

    Result<void> greet(const BoxLayout& layout);
    Result<void> readHello(std::string_view payload, InitRole role);
    Result<void> awaitReady(const BoxLayout& layout);
    /// The one frame that answers `stream`; anything else breaks the channel off.
    Result<channel::Client::Frame> answer(std::uint32_t stream, std::chrono::milliseconds time);
    Result<std::string> readResult(const TreeEntry& entry, std::string_view& refusal);

    std::unique_ptr<BoxHandle> handle;
    BoxSpec spec;
    channel::Client client;
    UniqueFd wake;
    BoxMeter lastMeter;
    std::uint32_t lastStream = 0;
    std::uint32_t stdinWindow = 0;
    bool destroyed = false;
};

Box::Box(std::unique_ptr<State> state) : m_state(std::move(state)) {}
Box::~Box() = default;

Result<channel::Client::Frame> Box::State::answer(std::uint32_t stream, std::chrono::milliseconds time)
{
    auto frame = client.next(in(time));
    if (!frame)
        return forward(frame);
    if (!*frame || (*frame)->stream != stream)
        return client.breakOff(*frame ? "answer of another stream" : "no answer in time");
    return **frame;
}

Result<void> Box::State::readHello(std::string_view payload, InitRole role)
{
    channel::PayloadReader reader(payload);
    const auto magic = reader.number<std::uint64_t>();
    const auto version = reader.number<std::uint16_t>();
    const auto flags = reader.number<std::uint16_t>();
    stdinWindow = reader.number<std::uint32_t>();
    if (!reader.finished() || magic != channel::kMagic || version != channel::kProtocolVersion ||
        stdinWindow > channel::kMaxCredit)
        return fail(ErrorCode::Unavailable,
                    "the box's init does not speak this server's protocol; install both from "
                    "one version",
                    "protocol version " + std::to_string(version));
    constexpr unsigned kAlways = channel::kIsUndumpable | channel::kHasNoNewPrivileges;
    const unsigned wanted = kAlways | (role == InitRole::ProcessOne ? channel::kIsProcessOne : 0U);
    if ((flags & wanted) != wanted)
        return fail(ErrorCode::Unavailable,
                    "the box is weaker than it must be: its init is not process 1, or could "
                    "not give up its privileges",
                    "hello flags " + std::to_string(flags));
    return {};
}

Result<void> Box::State::awaitReady(const BoxLayout& layout)
{
    std::string payload(3 * channel::kMaxPathBytes, '\0');
    channel::PayloadWriter writer(payload);
    writer.number(channel::kProtocolVersion)
        .number(spec.limits.workspaceBytes)
        .text(layout.workspace)
        .text(layout.skills);
    if (!writer.ok())
        return fail(ErrorCode::InvalidArgument, "the box's folders have too long names");
    if (auto sent = client.send(FrameType::Setup, 0, writer.view()); !sent)
        return sent;
    auto ready = answer(0, kGreetingDeadline);
    if (!ready)
        return forward(ready);
    if (ready->type == FrameType::Ready && ready->payload.empty())
        return {};
    return client.breakOff("setup: the init cannot open the workspace");
}

Result<void> Box::State::greet(const BoxLayout& layout)
{
    if (!wake)
        return failErrno("eventfd", errno);
    auto hello = answer(0, kGreetingDeadline);
    if (!hello)
        return forward(hello);
    if (hello->type != FrameType::Hello)
        return client.breakOff("greeting: another frame");
    if (auto read = readHello(hello->payload, layout.role); !read)
        return read;
    lastMeter = handle->meter();
    return awaitReady(layout);
}

Result<std::unique_ptr<Box>> Box::open(std::unique_ptr<BoxHandle> handle, BoxSpec spec, const BoxLayout& layout)
{
    auto state = std::make_unique<State>(std::move(handle), std::move(spec));
    if (auto greeted = state->greet(layout); !greeted)
        return forward(greeted);
    return std::unique_ptr<Box>(new Box(std::move(state)));
}

Result<void> Box::verifyPackages()
{
    State& box = *m_state;
    auto listing = listTree(box.client, ++box.lastStream, channel::WalkRoot::Skills, channel::Hashing::On,
                            entriesOf(box.spec.packages));
    if (!listing)
        return forward(listing);
    return checkPackages(*listing, box.spec.packages);
}

Result<void> Box::putFile(std::string_view path, std::string_view bytes, bool executable)
{
    State& box = *m_state;
    const std::uint32_t stream = ++box.lastStream;
    std::string payload(32 + path.size(), '\0');
    channel::PayloadWriter writer(payload);
    writer.number(static_cast<std::uint8_t>(executable)).number(std::uint64_t{bytes.size()}).text(path);
    if (path.size() >= channel::kMaxPathBytes)
        return fail(ErrorCode::InvalidArgument, "a path has at most 4095 bytes");
    auto ok = box.client.send(FrameType::PutFile, stream, writer.view());
    for (std::size_t sent = 0; ok && sent < bytes.size(); sent += channel::kMaxPayload) {
        ok = box.client.send(FrameType::PutBytes, stream, bytes.substr(sent, channel::kMaxPayload));
        if (ok && (sent / channel::kMaxPayload) % (kTransferBatch / channel::kMaxPayload) == 0)
            ok = box.client.flush(in(kTransferDeadline));
    }
    if (ok)
        ok = box.client.send(FrameType::PutEnd, stream, {});
    if (!ok)
        return ok;
    auto done = box.answer(stream, kTransferDeadline);
    if (!done)
        return forward(done);
    if (done->type == FrameType::Failed)
        return failedTransfer(path, done->payload);
    return done->type == FrameType::Done ? Result<void>{} : box.client.breakOff("put: another frame");
}

Result<CommandResult> Box::run(const Command& command, OutputSink& sink, std::stop_token cancel)
{
    State& box = *m_state;
    if (box.destroyed || box.client.isBroken())
        return fail(ErrorCode::Unavailable, "the box has ended; start another run");
    if (command.limits.wall.count() <= 0 || command.limits.wall > kMaxWall)
        return fail(ErrorCode::InvalidArgument, "a command's time limit is above 0 and at most 24 hours");
    if (command.limits.outputBytes > kMaxOutputCap)
        return fail(ErrorCode::InvalidArgument, "at most 1 GiB of a command's output can be kept");
    auto payload = encodeCommand(command);
    if (!payload)
        return forward(payload);
    if (cancel.stop_requested())
        return CommandResult{.termination = Termination::Cancelled};
    const int wake = box.wake.get();
    eventfd_t ignored = 0;
    (void)::eventfd_read(wake, &ignored); // what an earlier cancellation left
    const std::stop_callback waker(cancel, [wake] { ::eventfd_write(wake, 1); });
    CommandRun running(box.client, ++box.lastStream, command, sink);
    if (auto driven = running.drive(*std::move(payload), cancel, wake, box.stdinWindow); !driven)
        return forward(driven);
    const BoxMeter meter = box.handle->meter();
    running.facts().outOfMemory = meter.oomKills > box.lastMeter.oomKills;
    running.facts().processesDenied = meter.pidsDenied > box.lastMeter.pidsDenied;
    box.lastMeter = meter;
    if (running.facts().boxLost) {
        (void)box.client.breakOff("the box was lost during a command");
        box.handle->kill();
    }
    return running.takeResult();
}

Result<std::string> Box::State::readResult(const TreeEntry& entry, std::string_view& refusal)
{
    const std::uint32_t stream = ++lastStream;
    std::string request(32 + entry.path.size(), '\0');
    channel::PayloadWriter writer(request);
    writer.number(entry.sizeBytes).text(entry.path);
    if (auto sent = client.send(FrameType::ReadFile, stream, writer.view()); !sent)
        return forward(sent);
    std::string bytes;
    for (;;) {
        auto frame = answer(stream, kTransferDeadline);
        if (!frame)
            return forward(frame);
        if (frame->type == FrameType::Done && bytes.size() == entry.sizeBytes)
            return bytes;
        if (frame->type == FrameType::Done || frame->type == FrameType::Failed) {
            refusal = "unreadable";
            return bytes;
        }
        if (frame->type != FrameType::FileBytes || frame->payload.size() > entry.sizeBytes - bytes.size())
            return client.breakOff("collect: another frame, or a file that grew");
        bytes += frame->payload;
    }
}

Result<std::vector<RefusedOutput>> Box::collect(const std::vector<std::string>& globs, const CollectLimits& limits,
                                                const std::function<Result<void>(CollectedFile)>& each)
{
    if (globs.empty())
        return std::vector<RefusedOutput>{};
    State& box = *m_state;
    std::vector<Glob> patterns;
    for (const std::string& glob : globs) {
        auto pattern = Glob::parse(glob);
        if (!pattern)
            return forward(pattern);
        patterns.push_back(*std::move(pattern));
    }
    auto listing =
        listTree(box.client, ++box.lastStream, channel::WalkRoot::Results, channel::Hashing::Off, kMaxResultEntries);
    if (!listing)
        return forward(listing);
    ResultSelection selection(std::move(patterns), limits);
    selection.judge(*listing);
    for (const TreeEntry& entry : selection.wanted()) {
        std::string_view refusal;
        auto bytes = box.readResult(entry, refusal);
        if (!bytes)
            return forward(bytes);
        if (!refusal.empty())
            selection.refuse(entry.path, refusal);
        else if (auto taken = each({entry.path, *std::move(bytes)}); !taken)
            return forward(taken);
    }
    return selection.takeRefused();
}

Result<WorkspaceUsage> Box::measureWorkspace()
{
    State& box = *m_state;
    const std::uint32_t stream = ++box.lastStream;
    if (auto sent = box.client.send(FrameType::Measure, stream, {}); !sent)
        return forward(sent);
    auto frame = box.answer(stream, kMeasureDeadline);
    if (!frame)
        return forward(frame);
    channel::PayloadReader reader(frame->payload);
    WorkspaceUsage usage;
    usage.usedBytes = reader.number<std::uint64_t>();
    (void)reader.number<std::uint64_t>();
    usage.usedInodes = reader.number<std::uint64_t>();
    (void)reader.number<std::uint64_t>();
    usage.limitBytes = box.spec.limits.workspaceBytes;
    if (frame->type != FrameType::Usage || !reader.finished())
        return box.client.breakOff("measure: another frame");
    return usage;
}

BoxMeter Box::usage() const { return m_state->handle->meter(); }
void Box::kill() { m_state->handle->kill(); }
const BoxSpec& Box::spec() const { return m_state->spec; }

Result<void> Box::destroy()
{
    m_state->destroyed = true;
    return m_state->handle->destroy();
}

} // namespace assay::sandbox
