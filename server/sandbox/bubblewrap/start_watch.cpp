// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/start_watch.h"

#include "server/core/file_io.h"
#include "server/core/json.h"

#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay::sandbox::bubblewrap {

namespace {

using Deadline = std::chrono::steady_clock::time_point;

constexpr std::size_t kMaxInfoBytes = 4096;
constexpr const char* kInitName = "init\n"; ///< of /.assay/init

int millisecondsUntil(Deadline deadline)
{
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

bool pollUntil(std::span<pollfd> watched, Deadline deadline)
{
    for (;;) {
        const int ready = ::poll(watched.data(), watched.size(), millisecondsUntil(deadline));
        if (ready > 0)
            return true;
        if (ready == 0 && std::chrono::steady_clock::now() >= deadline)
            return false;
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

/// The document comes in pieces; it is whole when it parses.
std::optional<int> childPid(const std::string& text)
{
    if (!text.contains('}'))
        return std::nullopt;
    const auto parsed = parseJson(text);
    if (!parsed || !parsed->is_object())
        return std::nullopt;
    const json::value* pid = parsed->as_object().if_contains("child-pid");
    if (!pid || !pid->is_int64() || pid->as_int64() <= 1 || pid->as_int64() > 0x7fff'ffff)
        return std::nullopt;
    return static_cast<int>(pid->as_int64());
}

/// bubblewrap tells the process before it lets it go on, so everything is there once the init runs. Empty otherwise.
std::optional<int> toldPid(int info, Deadline deadline)
{
    std::string text;
    std::array<char, kMaxInfoBytes> piece;
    std::array<pollfd, 1> watched{{{info, POLLIN, 0}}};
    while (text.size() <= kMaxInfoBytes && pollUntil(watched, deadline)) {
        const ssize_t got = ::read(info, piece.data(), piece.size());
        if (got <= 0)
            return std::nullopt;
        text.append(piece.data(), static_cast<std::size_t>(got));
        if (const auto pid = childPid(text))
            return pid;
    }
    return std::nullopt;
}

Result<StartedInit> ended()
{
    return fail(ErrorCode::Unavailable, "the box could not be made", "bubblewrap ended before the box's init ran");
}

/// `started` is closed by the exec of the init, and as well by the end of a process that never came so far. The name
/// that the kernel shows changes with the exec, a moment after the descriptor is closed.
bool hasExecuted(int pid, int process, Deadline deadline)
{
    const std::string file = "/proc/" + std::to_string(pid) + "/comm";
    while (readFile(file, kMaxInfoBytes).value_or("") != kInitName) {
        const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
        if (awaitEnd(process, soon) || soon > deadline)
            return false;
    }
    return true;
}

} // namespace

Result<StartedInit> awaitInit(int info, int started, int process, Deadline deadline)
{
    // Not `info`: it comes in seven pieces, and to be woken for each would take time from the box that is starting.
    std::array<pollfd, 2> watched{{{process, POLLIN, 0}, {started, POLLIN, 0}}};
    if (!pollUntil(watched, deadline))
        return fail(ErrorCode::Timeout, "the box did not start in time", "its init did not run before the deadline");
    // Its end closes the other as well.
    if (watched[0].revents != 0)
        return ended();
    const auto pid = toldPid(info, deadline);
    if (!pid)
        return ended();
    StartedInit init{*pid, UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)))};
    return init.pidfd && hasExecuted(*pid, process, deadline) ? std::move(init) : ended();
}

bool awaitEnd(int pidfd, Deadline deadline)
{
    std::array<pollfd, 1> watched{{{pidfd, POLLIN, 0}}};
    return pollUntil(watched, deadline);
}

} // namespace assay::sandbox::bubblewrap
