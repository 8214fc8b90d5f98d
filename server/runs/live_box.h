// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/box.h"

#include <memory>

namespace assay::runs {

/// What a run needs of its box; sandbox::Box documents each call. A test fakes it by hand.
class LiveBox
{
public:
    virtual ~LiveBox() = default;
    virtual Result<void> verifyPackages() = 0;
    virtual Result<void> putFile(std::string_view path, std::string_view bytes) = 0;
    virtual Result<sandbox::CommandResult> run(const sandbox::Command& command, sandbox::OutputSink& sink,
                                               std::stop_token cancel) = 0;
    virtual Result<std::vector<sandbox::RefusedOutput>>
    collect(const std::vector<std::string>& globs, const std::function<Result<void>(sandbox::CollectedFile)>& each) = 0;
    virtual Result<sandbox::WorkspaceUsage> measureWorkspace() = 0;
    virtual sandbox::BoxMeter usage() const = 0;
    /// Begins the end without waiting for it; `destroy` completes it.
    virtual void kill() = 0;
    virtual Result<void> destroy() = 0;
};

/// Starts a box; on an error nothing of it is left. Thread-safe.
using BoxMaker = std::function<Result<std::unique_ptr<LiveBox>>(sandbox::BoxDriver& driver, sandbox::BoxSpec spec)>;

/// The real one: a box of `driver` with `assay-init` greeted.
Result<std::unique_ptr<LiveBox>> makeLiveBox(sandbox::BoxDriver& driver, sandbox::BoxSpec spec);

} // namespace assay::runs
