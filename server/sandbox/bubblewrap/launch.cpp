// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/launch.h"

#include "server/sandbox/bubblewrap/memory_file.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace assay::sandbox::bubblewrap {

namespace {

constexpr std::size_t kMessageBytes = 16U << 10;
constexpr std::uint64_t kMinBytes = 64U << 10;
constexpr std::uint64_t kMinMemory = 16U << 20;
constexpr std::uint64_t kMaxBytes = 1ULL << 46;
constexpr std::uint32_t kMinPids = 1;
constexpr std::uint32_t kMaxPids = 65'536;
constexpr double kMinCpus = 0.01;
constexpr double kMaxCpus = 1024;
constexpr std::size_t kMaxName = 64;

Result<void> openPipe(UniqueFd& reader, UniqueFd& writer)
{
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return failErrno("pipe", errno);
    reader.reset(ends[0]);
    writer.reset(ends[1]);
    return {};
}

Result<void> openChannel(UniqueFd& ours, UniqueFd& theirs)
{
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return failErrno("socketpair", errno);
    ours.reset(ends[0]);
    theirs.reset(ends[1]);
    return {};
}

Result<void> keep(Result<UniqueFd> opened, UniqueFd& place)
{
    if (!opened)
        return forward(opened);
    place = std::move(*opened);
    return {};
}

bool isName(std::string_view text, std::string_view more)
{
    return !text.empty() && text.size() <= kMaxName && std::ranges::all_of(text, [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || more.contains(c);
    });
}

Result<void> inRange(std::string_view what, std::uint64_t value, std::uint64_t least, std::uint64_t most)
{
    if (value >= least && value <= most)
        return {};
    return fail(ErrorCode::InvalidArgument, "the box's " + std::string(what) + " must be between " +
                                                std::to_string(least) + " and " + std::to_string(most) + ", not " +
                                                std::to_string(value));
}

Result<void> checkLimits(const BoxLimits& limits)
{
    if (!std::isfinite(limits.cpus) || limits.cpus < kMinCpus || limits.cpus > kMaxCpus)
        return fail(ErrorCode::InvalidArgument, "the box's cpus must be a number between 0.01 and 1024");
    for (auto checked : {inRange("memory in bytes", limits.memoryBytes, kMinMemory, kMaxBytes),
                         inRange("number of processes", limits.pids, kMinPids, kMaxPids),
                         inRange("workspace in bytes", limits.workspaceBytes, kMinBytes, kMaxBytes),
                         inRange("/tmp in bytes", limits.tmpBytes, kMinBytes, kMaxBytes)})
        if (!checked)
            return checked;
    return {};
}

Result<void> checkPackages(const std::vector<PinnedPackage>& packages)
{
    if (packages.size() > kMaxPadPackages)
        return fail(ErrorCode::InvalidArgument, "a box holds at most " + std::to_string(kMaxPadPackages) +
                                                    " packages, not " + std::to_string(packages.size()));
    std::vector<std::string_view> names;
    for (const PinnedPackage& package : packages) {
        if (!isName(package.name, "-"))
            return fail(ErrorCode::InvalidArgument, "a package's name must be 1 to 64 of a-z, 0-9 and hyphen");
        if (std::ranges::contains(names, package.name))
            return fail(ErrorCode::InvalidArgument, "the package " + package.name + " is named twice");
        if (!package.tree.is_absolute())
            return fail(ErrorCode::InvalidArgument, "the folder of the package " + package.name + " is not absolute");
        names.push_back(package.name);
    }
    return {};
}

} // namespace

Result<void> Launch::openDescriptors(const seccomp::Filter& filter, std::string_view options)
{
    auto done = openChannel(channel, passed[kStdin]);
    if (done)
        done = openPipe(info, passed[kInfo]);
    if (done)
        done = openPipe(started, passed[kStarted]);
    if (done)
        done = keep(sealedFile("assay-arguments", options), passed[kArguments]);
    if (done)
        done = keep(sealedFile("assay-surface", filter.surface), passed[kSurfaceFilter]);
    if (done)
        done = keep(sealedFile("assay-filter", filter.arguments), passed[kArgumentFilter]);
    if (done)
        done = keep(boundedFile("assay-messages", kMessageBytes), messages);
    return done;
}

Result<void> checkSpec(const BoxSpec& spec)
{
    if (!isName(spec.id, "-_"))
        return fail(ErrorCode::InvalidArgument, "a box's id must be 1 to 64 of a-z, 0-9, hyphen and underscore");
    if (auto limits = checkLimits(spec.limits); !limits)
        return limits;
    return checkPackages(spec.packages);
}

} // namespace assay::sandbox::bubblewrap
