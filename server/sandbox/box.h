// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/box_driver.h"

#include <functional>
#include <stop_token>

namespace assay::sandbox {

struct CollectLimits
{
    std::uint64_t files = 1000;
    std::uint64_t fileBytes = 64ULL << 20;
    std::uint64_t totalBytes = 256ULL << 20;
};

/// One collected file, whole. `path` is relative to /workspace/out.
struct CollectedFile
{
    std::string path;
    std::string bytes;
};

struct RefusedOutput
{
    std::string path;
    std::string
        reason; ///< "not_a_regular_file", "too_large", "too_many_files", "total_too_large", "unreadable", "unsafe_path"
};

/// Which process of its box `assay-init` must be. Only as process 1 of its own namespace does it prove that a tree is
/// gone; `Subreaper` exists so that tests can run it without a box.
enum class InitRole : std::uint8_t { ProcessOne, Subreaper };

/// Where the box's init finds its folders. Every driver makes them as the defaults say.
struct BoxLayout
{
    std::string workspace = "/workspace";
    std::string skills = "/skills";
    InitRole role = InitRole::ProcessOne;
};

/// A live box: the same on every driver, because all of it is spoken with `assay-init` over the channel. One command at
/// a time; `run`, `verifyPackages`, `putFile`, `collect` and `measureWorkspace` from one thread at a time, `usage` from
/// any.
class Box
{
public:
    /// Greets `assay-init` (deadline 5 s), checks its protocol version and that it is process 1, undumpable and without
    /// a way to new privileges. `Unavailable` otherwise; the handle is destroyed then.
    static Result<std::unique_ptr<Box>> open(std::unique_ptr<BoxHandle> handle, BoxSpec spec,
                                             const BoxLayout& layout = {});
    ~Box();

    /// Hashes, inside the box, what it sees below /skills and compares with the spec: every file, mode and size,
    /// nothing missing and nothing more, and that it cannot be written. `Refused` with `digest_mismatch` otherwise.
    Result<void> verifyPackages();

    /// Writes a file below /workspace, making folders; replaces what has its name, never writes through it. `path` is
    /// relative and already judged safe. `TooLarge` when the workspace is full.
    Result<void> putFile(std::string_view path, std::string_view bytes, bool executable);

    /// Runs one command and ends its whole tree: on return none of its processes is left. Never an error for what the
    /// command did: the result tells. A command that could not be started is an error, and the box stays usable:
    /// `NotFound` when the program, its interpreter or the working directory is not there, `InvalidArgument` when it
    /// cannot be executed or breaks a limit of docs/channel-protocol.md. `Unavailable` when the box cannot take a
    /// command. After a result with `box_lost`, or a kill that the box did not obey in 5 s, the box is dead and takes
    /// no more.
    Result<CommandResult> run(const Command& command, OutputSink& sink, std::stop_token cancel);

    /// Streams out the regular files below /workspace/out that match one of `globs`, each whole, in path order. No link
    /// is followed, no special file is opened. Refused ones are listed, with the reason.
    Result<std::vector<RefusedOutput>> collect(const std::vector<std::string>& globs, const CollectLimits& limits,
                                               const std::function<Result<void>(CollectedFile)>& each);

    Result<WorkspaceUsage> measureWorkspace();
    BoxMeter usage() const;
    const BoxSpec& spec() const;

    /// Begins the end of the box without waiting for it; see BoxHandle::kill.
    void kill();

    /// Ends the box; see BoxHandle::destroy. The box is unusable afterwards.
    Result<void> destroy();

private:
    struct State;
    explicit Box(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace assay::sandbox
