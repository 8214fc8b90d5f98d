// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/start_watch.h"

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

/// False when nothing more will come.
bool readPiece(int info, std::string& text)
{
    std::array<char, kMaxInfoBytes> piece;
    const ssize_t got = ::read(info, piece.data(), piece.size());
    if (got > 0)
        text.append(piece.data(), static_cast<std::size_t>(got));
    return got > 0 && text.size() <= kMaxInfoBytes;
}

Result<StartedInit> ended()
{
    return fail(ErrorCode::Unavailable, "the box could not be made", "bubblewrap ended before the box's init ran");
}

} // namespace

Result<StartedInit> awaitInit(int info, int started, int process, Deadline deadline)
{
    StartedInit init;
    std::string text;
    std::array<pollfd, 3> watched{{{process, POLLIN, 0}, {info, POLLIN, 0}, {started, POLLIN, 0}}};
    for (bool running = false; !running || !init.pidfd;) {
        if (!pollUntil(watched, deadline))
            return fail(ErrorCode::Timeout, "the box did not start in time",
                        "its init did not run before the deadline");
        if (watched[1].revents != 0 && !init.pidfd) {
            if (!readPiece(info, text))
                watched[1].fd = -1;
            if (const auto pid = childPid(text)) {
                init = {*pid, UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)))};
                watched[1].fd = -1;
            }
        }
        if (watched[2].revents != 0) {
            running = true;
            watched[2].fd = -1;
        }
        // Its end closes the other two as well, so this is asked last and settles the matter.
        if (watched[0].revents != 0 || (watched[1].fd < 0 && !init.pidfd))
            return ended();
    }
    return init;
}

bool awaitEnd(int pidfd, Deadline deadline)
{
    std::array<pollfd, 1> watched{{{pidfd, POLLIN, 0}}};
    return pollUntil(watched, deadline);
}

} // namespace assay::sandbox::bubblewrap
