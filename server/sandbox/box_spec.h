// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/digest.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::sandbox {

/// What a whole box may use. Defaults are architecture.md's.
struct BoxLimits
{
    double cpus = 1;
    std::uint64_t memoryBytes = 1ULL << 30; ///< swap is pinned to it
    std::uint32_t pids = 256;
    std::uint64_t workspaceBytes = 256ULL << 20;
    std::uint64_t tmpBytes = 128ULL << 20;
};

/// What happens when a stream of a command grows over its cap.
enum class OutputMode : std::uint8_t { Truncate, Terminate };

struct CommandLimits
{
    std::chrono::milliseconds wall{120'000};
    std::uint64_t outputBytes = 1ULL << 20; ///< kept of each stream; above it the first quarter and the last three
    OutputMode outputMode = OutputMode::Truncate;
};

/// One file of a pinned package, as the catalog knows it and as the box must see it.
struct PinnedFile
{
    std::string path; ///< below /skills/<name>, NFC
    Digest sha256;
    std::uint64_t sizeBytes = 0;
    bool executable = false;
};

/// One package of the manifest. `tree` is a host folder with exactly these files (modes 0444/0555, folders 0555): the
/// driver's source for its transfer. What the box sees is verified again from inside.
struct PinnedPackage
{
    std::string name;
    Digest digest;
    std::filesystem::path tree;
    std::vector<PinnedFile> files;
};

/// The file system a box starts from: a pinned base root, or the host's allow-listed directories.
struct BaseRoot
{
    std::string digest;         ///< "sha256:..." or "host, unpinned"
    std::filesystem::path root; ///< empty for the host's directories
};

/// All that makes a box; nothing is inherited from the server's environment.
struct BoxSpec
{
    std::string id; ///< chosen before the box exists, [a-z0-9_-], unique on this machine
    std::string scopeFingerprint;
    std::string runId;
    BoxLimits limits;
    BaseRoot base;
    std::vector<PinnedPackage> packages;
};

enum class OutputStream : std::uint8_t { Stdout = 1, Stderr = 2 };

/// A piece of output in the order of arrival at the box's init: `seq` counts over both streams of one command, from 0.
struct OutputChunk
{
    OutputStream stream = OutputStream::Stdout;
    std::uint64_t seq = 0;
    std::chrono::milliseconds sinceStart{0};
    std::string_view bytes;
};

/// Receives output live, before any cap is applied to what is kept: up to `outputBytes` of each stream is passed on.
/// Called on the thread that called `Box::run`; must not block for long.
class OutputSink
{
public:
    virtual ~OutputSink() = default;
    virtual void onOutput(const OutputChunk& chunk) = 0;
};

struct Command
{
    std::vector<std::string> argv; ///< argv[0] is looked up in the box's PATH when it has no slash
    std::vector<std::pair<std::string, std::string>> env; ///< added to the box's enumerated environment
    std::string cwd = "/workspace";
    std::string stdinBytes;
    CommandLimits limits;
};

/// Why a command ended, in order of priority: the first that is true is told.
enum class Termination : std::uint8_t {
    Cancelled,
    Timeout,
    DiskQuotaExceeded,
    OutputCapExceeded,
    MemoryExceeded,
    PidsExceeded,
    Signalled,
    Exited,
    BoxLost,
};

/// api.md's word: "cancelled", "timeout", "disk_quota_exceeded", ...
std::string_view terminationName(Termination termination);

/// What was kept of a stream: all of it, or the first quarter of the cap and the last three, with what lay between
/// counted.
struct CapturedOutput
{
    std::string head;
    std::string tail;
    std::uint64_t totalBytes = 0;
    std::uint64_t droppedBytes() const { return totalBytes - head.size() - tail.size(); }
};

struct CommandResult
{
    Termination termination = Termination::BoxLost;
    std::optional<int> exitCode; ///< the process's own, never 128+n
    std::optional<int> signal;
    CapturedOutput out;
    CapturedOutput err;
    std::chrono::milliseconds wall{0};
    std::chrono::milliseconds cpu{0};
    std::uint64_t maxRssBytes = 0;
};

/// A box's counters, from the kernel when limits are hard.
struct BoxMeter
{
    std::uint64_t oomKills = 0;
    std::uint64_t pidsDenied = 0;
    std::chrono::microseconds cpu{0};
    std::uint64_t peakMemoryBytes = 0;
    bool hard = false; ///< limits are the kernel's (cgroup); otherwise rlimits and sampling, reported as "soft"
};

/// What the workspace holds, from the file system itself (statfs): unlinked and unreadable files count.
struct WorkspaceUsage
{
    std::uint64_t usedBytes = 0;
    std::uint64_t limitBytes = 0;
    std::uint64_t usedInodes = 0;
};

} // namespace assay::sandbox
