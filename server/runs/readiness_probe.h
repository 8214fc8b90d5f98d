// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/runs/execution_session.h"
#include "server/runs/live_box.h"

namespace assay::runs {

/// The only way to be `ready` (E7): a session is sealed and opened again, a real box of the base is made, a real
/// command runs in it, and its output is the nonce that only this probe knows. Nothing of anybody is in that box.
/// Thread-safe; takes some milliseconds, at most some seconds.
class ReadinessProbe
{
public:
    ReadinessProbe(SessionSealer& sealer, BoxMaker makeBox) : m_sealer(sealer), m_makeBox(std::move(makeBox)) {}

    /// What to tell people. Any error means not ready, and says why.
    Result<std::string> prove(sandbox::BoxDriver& driver, const sandbox::BaseRoot& base);

private:
    Result<ExecutionSession> session();

    SessionSealer& m_sealer;
    BoxMaker m_makeBox;
};

} // namespace assay::runs
