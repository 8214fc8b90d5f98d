// SPDX-License-Identifier: Apache-2.0
#include "server/runs/live_run.h"

#include "server/core/ids.h"
#include "server/core/json.h"

#include <algorithm>
#include <format>
#include <utility>

namespace assay::runs {

namespace {

store::OutputRow outputRow(const sandbox::CapturedOutput& output)
{
    return {.head = output.head, .tail = output.tail, .totalBytes = output.totalBytes};
}

std::size_t heldBytes(const store::CommandRow& row)
{
    return row.out.head.size() + row.out.tail.size() + row.err.head.size() + row.err.tail.size();
}

std::string commandEvent(const store::CommandRow& row)
{
    json::object out{{"command", row.id}, {"state", row.state}};
    if (!row.termination.empty())
        out["termination"] = row.termination;
    if (row.exitCode)
        out["exit_code"] = *row.exitCode;
    if (row.signal)
        out["signal"] = *row.signal;
    return json::serialize(out);
}

std::uint64_t count(std::chrono::milliseconds value)
{
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, value.count()));
}

} // namespace

std::string cancelMessage(std::string_view reason)
{
    if (reason == "server_stopping")
        return "the server was stopped";
    if (reason == "revision_stopped")
        return "a revision that the run pins was stopped";
    return "the run was cancelled";
}

contract::CommandResult toContract(const store::CommandRow& row)
{
    contract::CommandResult out;
    out.id = row.id;
    out.state = row.state;
    if (row.exitCode)
        out.exitCode = static_cast<int>(*row.exitCode);
    if (row.signal)
        out.signal = static_cast<int>(*row.signal);
    out.termination = row.termination;
    out.stdoutBytes = row.out.head + row.out.tail;
    out.stderrBytes = row.err.head + row.err.tail;
    out.stdoutTotal = row.out.totalBytes;
    out.stderrTotal = row.err.totalBytes;
    out.wallMs = row.wallMs;
    out.cpuMs = row.cpuMs;
    out.maxRssBytes = row.maxRssBytes;
    out.startedAt = row.startedAt;
    out.endedAt = row.endedAt;
    if (row.state == "ended")
        out.droppedBytes = out.stdoutTotal + out.stderrTotal - out.stdoutBytes.size() - out.stderrBytes.size();
    return out;
}

contract::Artifact toContract(const store::ArtifactRow& row)
{
    return {.id = row.id,
            .run = row.run,
            .path = row.path,
            .sha256 = row.sha256.text(),
            .sizeBytes = row.sizeBytes,
            .mediaType = row.mediaType,
            .createdAt = row.createdAt};
}

LiveRun::LiveRun(RunPlan plan, std::string manifestDigest, const Clock& clock)
    : m_plan(std::move(plan)), m_manifestDigest(std::move(manifestDigest)), m_clock(clock)
{
    m_run.id = m_plan.runId;
    m_run.agent = m_plan.agent ? m_plan.agent->definition.name : std::string();
    m_run.subagent = m_plan.subagent;
    for (const auto& skill : m_plan.skills)
        m_run.skills.push_back({skill.name, skill.revision, skill.number, skill.digest.text()});
    m_run.scopeFingerprint = m_plan.scopeFingerprint;
    m_run.manifestDigest = m_manifestDigest;
    m_run.driver = m_plan.driver;
    m_run.baseDigest = m_plan.base.digest;
    m_run.session = m_plan.session;
    m_run.createdAt = m_plan.createdAt;
    enter("queued");
}

contract::Run LiveRun::snapshot() const
{
    const std::lock_guard lock(m_mutex);
    contract::Run out = m_run;
    out.state = m_visibleState;
    if (!m_ended) { // decided, but not durable yet
        out.endedAt.reset();
        out.termination.clear();
        out.reason.clear();
        out.message.clear();
    }
    for (const auto& known : m_commands) {
        out.commands.push_back(toContract(known.row));
        out.commands.back().droppedBytes = known.droppedBytes;
    }
    for (const auto& artifact : m_artifacts)
        out.artifacts.push_back(toContract(artifact));
    return out;
}

contract::Run LiveRun::ending() const
{
    const std::lock_guard lock(m_mutex);
    return m_run;
}

std::string LiveRun::state() const
{
    const std::lock_guard lock(m_mutex);
    return m_visibleState;
}

bool LiveRun::cancel(std::string_view reason)
{
    bool decides = false;
    {
        const std::lock_guard lock(m_mutex);
        decides = m_cancelReason.empty() && !m_closed;
        if (m_cancelReason.empty())
            m_cancelReason = reason;
    }
    m_cancel.request_stop();
    // Taken and given back, so that nobody is between looking at the token and going to sleep.
    const std::lock_guard lock(m_mutex);
    m_changed.notify_all();
    return decides;
}

bool LiveRun::close()
{
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_closed, true) || m_cancelReason.empty();
}

bool LiveRun::closeIfIdle()
{
    const std::lock_guard lock(m_mutex);
    m_closed = m_closed || (m_waiting.empty() && m_cancelReason.empty());
    return m_closed;
}

std::string LiveRun::cancelReason() const
{
    const std::lock_guard lock(m_mutex);
    return m_cancelReason;
}

void LiveRun::finish()
{
    const std::lock_guard lock(m_mutex);
    m_finishing = true;
    m_changed.notify_all();
}

bool LiveRun::waitEnded(Deadline deadline) const
{
    std::unique_lock lock(m_mutex);
    return m_changed.wait_until(lock, deadline, [this] { return m_ended; });
}

bool LiveRun::waitCommand(std::string_view id, Deadline deadline) const
{
    std::unique_lock lock(m_mutex);
    return m_changed.wait_until(lock, deadline, [&] {
        const Known* known = find(id);
        return m_ended || !known || known->row.state == "ended";
    });
}

void LiveRun::push(Work work)
{
    store::CommandRow row;
    row.id = work.id;
    row.state = "queued";
    row.createdAt = m_clock.now();
    m_waiting.push_back(std::move(work));
    m_commands.push_back({std::move(row), false});
    m_changed.notify_all();
}

bool LiveRun::isAlive() const
{
    const std::lock_guard lock(m_mutex);
    return !m_ended && !m_cancel.stop_requested();
}

Result<void> LiveRun::judgeCommand() const
{
    if (m_finishing || m_closed || m_ended || m_cancel.stop_requested())
        return fail(ErrorCode::Conflict, "this run is ending and takes no more commands; start another session");
    if (m_waiting.size() >= kMaxWaitingCommands)
        return fail(ErrorCode::RateLimited,
                    std::format("{} commands wait in this session, and no more may; wait for one to "
                                "end",
                                kMaxWaitingCommands));
    if (m_commands.size() >= kMaxCommands)
        return fail(ErrorCode::Conflict,
                    std::format("a session takes {} commands; finish it and start another", kMaxCommands));
    return {};
}

Result<void> LiveRun::mayAddCommand() const
{
    const std::lock_guard lock(m_mutex);
    return judgeCommand();
}

Result<void> LiveRun::addCommand(Work work)
{
    const std::lock_guard lock(m_mutex);
    if (auto may = judgeCommand(); !may)
        return may;
    push(std::move(work));
    return {};
}

void LiveRun::addFirstCommand(sandbox::Command command)
{
    const std::lock_guard lock(m_mutex);
    m_finishing = m_finishing || !m_plan.session; // a one-shot run is a session that ends with its command
    push({m_plan.command->id, std::move(command), m_plan.command->carrier, m_firstReservation.exchange(0)});
}

std::vector<LiveRun::Work> LiveRun::takeUnstarted()
{
    const std::lock_guard lock(m_mutex);
    m_closed = true;
    std::vector<Work> out(std::move_iterator(m_waiting.begin()), std::move_iterator(m_waiting.end()));
    m_waiting.clear();
    if (const auto first = m_firstReservation.exchange(0); first != 0)
        out.push_back({m_plan.command->id, {}, m_plan.command->carrier, first});
    return out;
}

const LiveRun::Known* LiveRun::find(std::string_view id) const
{
    // The newest are asked for most.
    for (auto known = m_commands.rbegin(); known != m_commands.rend(); ++known)
        if (known->row.id == id)
            return &*known;
    return nullptr;
}

std::optional<LiveRun::CommandView> LiveRun::command(std::string_view id) const
{
    const std::lock_guard lock(m_mutex);
    const Known* known = find(id);
    return known ? std::optional(CommandView{known->row, known->stored}) : std::nullopt;
}

void LiveRun::closePhase(Timestamp now)
{
    if (!m_run.phases.empty() && !m_run.phases.back().endedAt)
        m_run.phases.back().endedAt = now;
}

void LiveRun::enter(std::string_view phase)
{
    const auto now = m_clock.now();
    {
        const std::lock_guard lock(m_mutex);
        closePhase(now);
        m_run.phases.push_back({std::string(phase), now, std::nullopt});
        m_visibleState = phase;
    }
    m_events->append("phase", std::format(R"({{"name":"{}","at":"{}"}})", phase, formatTimestamp(now)));
}

LiveRun::Waited LiveRun::nextCommand(Deadline deadline, std::optional<Work>& work)
{
    std::unique_lock lock(m_mutex);
    const auto over = [this] { return m_cancel.stop_requested() || (m_finishing && m_waiting.empty()); };
    m_changed.wait_until(lock, deadline, [&] { return over() || !m_waiting.empty(); });
    if (over())
        return Waited::Over;
    if (m_waiting.empty())
        return Waited::Idle;
    work = std::move(m_waiting.front());
    m_waiting.pop_front();
    Known& known = *find(work->id);
    known.row.state = "running";
    known.row.startedAt = m_clock.now();
    const auto event = commandEvent(known.row);
    m_changed.notify_all();
    lock.unlock();
    m_events->append("command", event);
    return Waited::Command;
}

void LiveRun::commandEnded(std::string_view id, const sandbox::CommandResult& result)
{
    std::string event;
    {
        const std::lock_guard lock(m_mutex);
        Known& known = *find(id);
        auto& row = known.row;
        row.state = "ended";
        row.exitCode = result.exitCode;
        row.signal = result.signal;
        row.termination = sandbox::terminationName(result.termination);
        row.out = outputRow(result.out);
        row.err = outputRow(result.err);
        row.wallMs = count(result.wall);
        row.cpuMs = count(result.cpu);
        row.maxRssBytes = result.maxRssBytes;
        row.endedAt = m_clock.now();
        m_unstoredBytes += heldBytes(row);
        known.droppedBytes = result.out.droppedBytes() + result.err.droppedBytes();
        event = commandEvent(row);
    }
    m_events->append("command", event);
    m_changed.notify_all();
}

std::vector<store::CommandRow> LiveRun::unstoredCommands() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<store::CommandRow> out;
    for (auto known = m_commands.rbegin(); known != m_commands.rend() && !known->stored; ++known)
        if (known->row.state == "ended")
            out.push_back(known->row);
    std::ranges::reverse(out);
    return out;
}

void LiveRun::commandNotStarted(std::string_view id, std::string_view why)
{
    {
        const std::lock_guard lock(m_mutex);
        auto& row = find(id)->row;
        row.state = "ended";
        row.termination = kNotStarted;
        row.endedAt = m_clock.now();
    }
    const json::object event{{"command", id}, {"state", "ended"}, {"termination", kNotStarted}, {"message", why}};
    m_events->append("command", json::serialize(event));
    m_changed.notify_all();
}

bool LiveRun::hasUnstoredCommands() const
{
    const std::lock_guard lock(m_mutex);
    return !m_commands.empty() && !m_commands.back().stored;
}

std::size_t LiveRun::unstoredBytes() const
{
    const std::lock_guard lock(m_mutex);
    return m_unstoredBytes;
}

void LiveRun::commandsStored(const std::vector<store::CommandRow>& rows)
{
    const std::lock_guard lock(m_mutex);
    for (const auto& row : rows) {
        Known& known = *find(row.id);
        m_unstoredBytes -= heldBytes(known.row);
        known.stored = true;
        for (auto* output : {&known.row.out, &known.row.err}) {
            output->head = {};
            output->tail = {};
        }
    }
}

void LiveRun::addArtifact(store::ArtifactRow row)
{
    const std::lock_guard lock(m_mutex);
    m_artifacts.push_back(std::move(row));
}

std::vector<store::ArtifactRow> LiveRun::artifacts() const
{
    const std::lock_guard lock(m_mutex);
    return m_artifacts;
}

void LiveRun::addRejected(contract::RejectedOutput rejected)
{
    const std::lock_guard lock(m_mutex);
    m_run.rejectedOutputs.push_back(std::move(rejected));
}

void LiveRun::setUsage(contract::RunUsage usage)
{
    const std::lock_guard lock(m_mutex);
    m_run.usage = std::move(usage);
}

void LiveRun::setOutputCheck(contract::OutputCheck check)
{
    const std::lock_guard lock(m_mutex);
    m_run.outputCheck = std::move(check);
}

void LiveRun::conclude(const RunOutcome& outcome)
{
    const std::lock_guard lock(m_mutex);
    const auto now = m_clock.now();
    closePhase(now);
    m_run.state = outcome.state;
    m_run.termination = outcome.termination;
    m_run.reason = outcome.reason;
    m_run.message = outcome.message;
    m_run.endedAt = now;
    for (auto& known : m_commands) // those that never started
        if (known.row.state != "ended") {
            known.row.state = "ended";
            known.row.termination = "cancelled";
            known.row.endedAt = now;
        }
    m_waiting.clear();
}

void LiveRun::publishEnd()
{
    m_events->publishEnd();
    const std::lock_guard lock(m_mutex);
    m_ended = true;
    m_visibleState = m_run.state;
    m_changed.notify_all();
}

} // namespace assay::runs
