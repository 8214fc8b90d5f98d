// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/runtime/settings.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace assay::runtime {

class Log;

/// The whole server in one process: `assayd` runs it, the desktop application embeds it. Starts in the order data
/// directory, database, services, workers, listeners; stops in the opposite one. `start` and `stop` from one thread.
class Runtime
{
public:
    /// On return every address is bound and requests are served. `onFatal` is called, from any thread and at most a few
    /// times, when a part that was started has failed: the process should stop and end with a failure. `log` outlives
    /// the runtime.
    static Result<std::unique_ptr<Runtime>> start(const Settings& settings, Log& log, std::function<void()> onFatal);
    ~Runtime();

    /// "http://127.0.0.1:8473", with real ports, in the order of the settings; metrics last.
    std::vector<std::string> listening() const;

    /// Stops accepting, cancels runs, finishes requests in progress for at most `deadline`, joins every thread.
    void stop(std::chrono::milliseconds deadline);

private:
    struct State;
    explicit Runtime(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace assay::runtime
