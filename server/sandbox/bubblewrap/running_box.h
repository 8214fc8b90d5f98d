// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/box_driver.h"
#include "server/sandbox/bubblewrap/launcher.h"
#include "server/sandbox/bubblewrap/soft_limits.h"
#include "server/sandbox/bubblewrap/start_watch.h"
#include "server/sandbox/cgroup/box_group.h"

#include <functional>
#include <memory>
#include <mutex>

namespace assay::sandbox::bubblewrap {

/// What holds a live box. `outer` is bubblewrap, which ends only after the process namespace of the box has: the
/// kernel lets process 1 of a namespace end last. So its end proves that no process of the box is left.
struct BoxParts
{
    UniqueFd channel;
    LaunchedProcess outer;
    StartedInit init;
    std::unique_ptr<cgroup::BoxGroup> group; ///< null with soft limits
    SoftLimits* soft = nullptr;              ///< the driver's, with soft limits
    std::function<void()> onGone;            ///< called once, when nothing is left
};

/// One box of the driver.
class RunningBox final : public BoxHandle
{
public:
    explicit RunningBox(BoxParts parts) : m_parts(std::move(parts)) {}
    ~RunningBox() override;

    int channel() const override { return m_parts.channel.get(); }
    void kill() override;
    BoxMeter meter() const override;
    Result<void> destroy() override;

    /// The host's process id of the box's init, for inspection.
    int initPid() const { return m_parts.init.pid; }

private:
    BoxParts m_parts;
    mutable std::mutex m_mutex; ///< guards the group against a meter that is read while the box is destroyed
    BoxMeter m_last;
    bool m_gone = false;
};

/// Kills bubblewrap and, if known, the init, and waits for both. False when one is left at the deadline.
bool endProcesses(LaunchedProcess& outer, const StartedInit& init, std::chrono::steady_clock::time_point deadline);

} // namespace assay::sandbox::bubblewrap
