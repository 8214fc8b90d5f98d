// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/runs/event_log.h"
#include "server/runs/manifest.h"
#include "server/runs/run_plan.h"
#include "server/store/artifact_table.h"
#include "server/store/command_table.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>

namespace assay::runs {

/// The termination of a command that could not be started: no such program, not executable, no such folder.
inline constexpr std::string_view kNotStarted = "not_started";

/// How a run ended.
struct RunOutcome
{
    std::string state; ///< "succeeded", "failed", "cancelled" or "refused"
    std::string termination;
    std::string reason;
    std::string message;
};

/// A run between its acceptance and its end, as every thread may see it: phases, commands, events, and the wishes to
/// cancel or finish. One worker drives it; the others read, wait and wish. Thread-safe.
class LiveRun
{
public:
    using Deadline = std::chrono::steady_clock::time_point;
    static constexpr std::size_t kMaxWaitingCommands = 64;
    static constexpr std::size_t kMaxCommands = 10'000;

    LiveRun(RunPlan plan, std::string manifestDigest, const Clock& clock);

    const RunPlan& plan() const { return m_plan; }
    const std::string& manifestDigest() const { return m_manifestDigest; }
    EventLog& events() { return *m_events; }

    // --- any thread
    contract::Run snapshot() const;
    std::string state() const;
    /// Ends the run as soon as possible; the first call's reason is kept. Whether this call decides its end: it is the
    /// first, and came before another end was decided.
    bool cancel(std::string_view reason);
    std::stop_token cancelled() const { return m_cancel.get_token(); }
    std::string cancelReason() const;
    /// Ends a session after the commands that wait now.
    void finish();
    bool waitEnded(Deadline deadline) const;
    /// The end of the run, or of one of its commands; false at the deadline.
    bool waitCommand(std::string_view id, Deadline deadline) const;
    /// Neither ended nor to be cancelled.
    bool isAlive() const;
    struct Work
    {
        std::string id;
        sandbox::Command command;
        std::string carrier;          ///< the sealed session of who asked for it
        std::int64_t reservation = 0; ///< in the ledger; 0 without
    };
    /// `Conflict` when the session is ending or has had its commands, `RateLimited` when too many wait.
    Result<void> mayAddCommand() const;
    /// Accepts a session's command, under the same conditions.
    Result<void> addCommand(Work work);
    /// What is known of a command; empty when there is none of this id. `stored`: its output is in the database.
    struct CommandView
    {
        store::CommandRow row;
        bool stored = false;
    };
    std::optional<CommandView> command(std::string_view id) const;

    // --- the worker
    void enter(std::string_view phase);
    /// Under which number the first command is reserved.
    void reserveFirst(std::int64_t reservation) { m_firstReservation = reservation; }
    /// Adds the first command of a run, as planned and reserved, before any wait.
    void addFirstCommand(sandbox::Command command);
    /// The end is decided: takes no more commands. False when it is to be `cancelled`, for that was asked for before.
    bool close();
    /// The same for a session without a command; false, and nothing changes, when one waits or it was cancelled.
    bool closeIfIdle();
    /// Closes, and takes the commands that were reserved and will not start, the first one among them when it was never
    /// added.
    std::vector<Work> takeUnstarted();
    enum class Waited : std::uint8_t { Command, Idle, Over };
    /// Waits for a command until `deadline`: `Over` when the session is finished or cancelled.
    Waited nextCommand(Deadline deadline, std::optional<Work>& work);
    void commandEnded(std::string_view id, const sandbox::CommandResult& result);
    /// It could not be started; nothing of it ran.
    void commandNotStarted(std::string_view id, std::string_view why);
    /// Commands that ended and are not stored yet, and the bytes of output that they hold.
    std::vector<store::CommandRow> unstoredCommands() const;
    std::size_t unstoredBytes() const;
    bool hasUnstoredCommands() const;
    /// They are stored: their output is dropped from memory.
    void commandsStored(const std::vector<store::CommandRow>& rows);
    void addArtifact(store::ArtifactRow row);
    std::vector<store::ArtifactRow> artifacts() const;
    void addRejected(contract::RejectedOutput rejected);
    void setUsage(contract::RunUsage usage);
    void setOutputCheck(contract::OutputCheck check);
    /// Closes the phases and takes the outcome; not yet visible to those who wait.
    void conclude(const RunOutcome& outcome);
    /// The run as concluded, without commands and artifacts.
    contract::Run ending() const;
    /// Everybody sees the end.
    void publishEnd();

private:
    struct Known
    {
        store::CommandRow row;
        bool stored = false;
        std::uint64_t droppedBytes = 0;
    };
    void push(Work work);
    Result<void> judgeCommand() const;
    void closePhase(Timestamp now);
    const Known* find(std::string_view id) const;
    Known* find(std::string_view id) { return const_cast<Known*>(std::as_const(*this).find(id)); }

    const RunPlan m_plan;
    const std::string m_manifestDigest;
    const Clock& m_clock;
    const std::shared_ptr<EventLog> m_events = std::make_shared<EventLog>();
    std::stop_source m_cancel;

    mutable std::mutex m_mutex;
    mutable std::condition_variable m_changed;
    contract::Run m_run; ///< without commands and artifacts
    std::string m_visibleState = "queued";
    std::string m_cancelReason;
    std::vector<Known> m_commands;
    std::deque<Work> m_waiting;
    std::atomic<std::int64_t> m_firstReservation{0};
    std::size_t m_unstoredBytes = 0;
    std::vector<store::ArtifactRow> m_artifacts;
    bool m_finishing = false;
    bool m_closed = false; ///< how it ends is decided
    bool m_ended = false;
};

/// What a run's end says when it was cancelled for this reason.
std::string cancelMessage(std::string_view reason);

/// A stored command as the API shows it.
contract::CommandResult toContract(const store::CommandRow& row);
contract::Artifact toContract(const store::ArtifactRow& row);

} // namespace assay::runs
