// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/runs/execution_session.h"
#include "server/runs/live_run.h"
#include "server/runs/run_journal.h"

namespace assay::runs {

/// The only place that opens execution sessions: every command passes here twice, when it is accepted and again when it
/// comes out of the queue, and each time the run must be alive. What it refuses is recorded. Thread-safe.
class ExecutionBroker
{
public:
    ExecutionBroker(SessionSealer& sealer, RunJournal& journal) : m_sealer(sealer), m_journal(journal) {}

    /// A carrier for a command of `run`, asked for by `by`. `Conflict` when the run is over or ending; `Refused`
    /// without an identity in the run's scope.
    Result<std::string> admit(const auth::Identity& by, const LiveRun& run);
    /// The same before the run exists for others: for its first command.
    Result<std::string> sealFor(const auth::Identity& by, const std::string& run);

    /// Before a command is dispatched: who asked for it. `Refused` with `session_invalid`, `session_expired`,
    /// `session_scope` (another scope's), `session_run` (another run's) or `run_over`; all but the last are recorded as
    /// `session.open`.
    Result<ExecutionSession> open(std::string_view carrier, const LiveRun& run);

    /// Who asked, for the record of a command that is not dispatched; nobody when the carrier does not tell.
    ExecutionSession whoAsked(std::string_view carrier);

private:
    std::unexpected<Error> refused(const LiveRun& run, Error why);

    SessionSealer& m_sealer;
    RunJournal& m_journal;
};

} // namespace assay::runs
