// SPDX-License-Identifier: Apache-2.0
#include "server/runs/run_execution.h"

#include "server/core/json.h"
#include "server/runs/output_events.h"
#include "server/runs/run_audit.h"
#include "server/runs/script_command.h"

#include <algorithm>
#include <format>
#include <thread>

namespace assay::runs {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kSettle{50};              ///< a session idle for this long stores its commands
constexpr std::size_t kUnstoredBytes = 4U << 20; ///< or as soon as they hold this much output
constexpr milliseconds kFirstStorePause{100};    ///< then twice as long each time
constexpr milliseconds kLongestStorePause{5'000};
constexpr milliseconds kStoppingStorePatience{1'000}; ///< of a server that stops

std::string boxId(std::string_view runId)
{
    std::string out(runId);
    std::ranges::transform(out, out.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return out;
}

std::string sentenceFor(const sandbox::CommandResult& result)
{
    using enum sandbox::Termination;
    switch (result.termination) {
    case Exited:
        return result.exitCode == 0
                   ? ""
                   : std::format("the command ended with exit status {}", result.exitCode.value_or(-1));
    case Signalled:
        return std::format("the command was ended by signal {}", result.signal.value_or(0));
    case Timeout:
        return std::format("the command was ended after {} ms, its limit", result.wall.count());
    case MemoryExceeded:
        return "the command used more memory than the box's limit";
    case PidsExceeded:
        return "the command started more processes than the box's limit";
    case DiskQuotaExceeded:
        return "the workspace grew over its limit";
    case OutputCapExceeded:
        return "the command wrote more output than its limit";
    case Cancelled:
        return "the run was cancelled";
    case BoxLost:
        return "the box ended unexpectedly";
    }
    return {};
}

RunOutcome outcomeOf(const sandbox::CommandResult& result)
{
    const std::string name(sandbox::terminationName(result.termination));
    if (result.termination == sandbox::Termination::Exited && result.exitCode == 0)
        return {.state = "succeeded", .termination = name, .reason = {}, .message = {}};
    const bool exited = result.termination == sandbox::Termination::Exited;
    return {.state = "failed",
            .termination = name,
            .reason = exited ? "exit_status" : name,
            .message = sentenceFor(result)};
}

std::string endEvent(const RunOutcome& outcome)
{
    json::object out{{"state", outcome.state}};
    if (!outcome.termination.empty())
        out["termination"] = outcome.termination;
    if (!outcome.reason.empty())
        out["reason"] = outcome.reason;
    if (!outcome.message.empty())
        out["message"] = outcome.message;
    return json::serialize(out);
}

} // namespace

RunOutcome RunExecution::cancelledOutcome() const
{
    const auto reason = m_run.cancelReason();
    return {.state = "cancelled", .termination = "cancelled", .reason = reason, .message = cancelMessage(reason)};
}

RunOutcome RunExecution::outcomeOf(const Error& error) const
{
    if (m_run.cancelled().stop_requested())
        return cancelledOutcome();
    const bool refused = error.code == ErrorCode::Refused;
    return {.state = refused ? "refused" : "failed",
            .termination = refused ? "" : "box_lost",
            .reason = refused ? error.reason : "box_lost",
            .message = error.message};
}

void RunExecution::execute()
{
    if (m_run.cancelled().stop_requested())
        return finish(cancelledOutcome());
    if (auto prepared = prepare(); !prepared)
        return failWith(prepared.error());
    m_run.enter("running");
    auto outcome = runCommands();
    if (!m_run.close() && outcome.state != "cancelled")
        outcome = cancelledOutcome();
    if (outcome.state != "cancelled" && outcome.termination != "box_lost")
        collect(outcome);
    measure();
    finish(std::move(outcome));
}

void RunExecution::failWith(const Error& error)
{
    if (error.reason == "digest_mismatch")
        add(Count::DigestMismatch);
    finish(outcomeOf(error));
}

void RunExecution::abandon(const RunOutcome& outcome) { finish(outcome); }

Result<void> RunExecution::prepare()
{
    m_run.enter("pinned");
    m_run.enter("provisioning");
    auto begin = steady_clock::now();
    if (auto bound = bindPackages(); !bound)
        return bound;
    auto took = steady_clock::now() - begin;
    if (auto provisioned = provision(); !provisioned)
        return provisioned;
    m_run.enter("materializing");
    begin = steady_clock::now();
    if (auto verified = verify(); !verified)
        return verified;
    took += steady_clock::now() - begin;
    if (m_parts.metrics && !m_trees->packages.empty())
        m_parts.metrics->materialized(took, m_trees->bytes);
    if (auto placed = placeFiles(); !placed)
        return placed;
    addFirstCommand();
    return {};
}

Result<void> RunExecution::bindPackages()
{
    auto trees = m_parts.materializer.materialize(m_run.plan());
    if (!trees)
        return forward(trees);
    m_trees = std::move(*trees);
    const auto hits = static_cast<std::uint64_t>(std::ranges::count_if(m_trees->leases, &TreeLease::wasHit));
    const std::string_view store = m_run.plan().storeIdentity;
    if (m_parts.metrics && !m_trees->leases.empty())
        m_parts.metrics->cached(store.substr(0, store.find(':')), hits, m_trees->leases.size() - hits);
    return {};
}

void RunExecution::add(Count what, std::uint64_t by) const
{
    if (m_parts.metrics && by > 0)
        m_parts.metrics->add(what, by);
}

void RunExecution::report(const Error& error) const
{
    if (m_parts.report)
        m_parts.report(m_run.plan().runId, error);
}

Result<void> RunExecution::provision()
{
    const auto& plan = m_run.plan();
    auto box = m_parts.makeBox(*m_driver, {.id = boxId(plan.runId),
                                           .scopeFingerprint = plan.scopeFingerprint,
                                           .runId = plan.runId,
                                           .limits = plan.limits.box,
                                           .base = plan.base,
                                           .packages = m_trees->packages});
    if (!box && box.error().code != ErrorCode::Refused)
        return refuse("driver_unavailable",
                      std::format("the {} driver could not make a box: {}", plan.driver, box.error().message),
                      box.error().detail);
    if (!box)
        return forward(box);
    m_box = std::move(*box);
    add(Count::BoxStarted);
    return {};
}

Result<void> RunExecution::verify()
{
    if (m_trees->packages.empty())
        return {};
    auto verified = m_box->verifyPackages();
    if (!verified && verified.error().reason == "digest_mismatch")
        m_parts.materializer.distrust(m_run.plan());
    if (!verified && verified.error().code != ErrorCode::Refused)
        return refuse("materialization_failed",
                      "the packages could not be verified inside the box: " + verified.error().message,
                      verified.error().detail);
    return verified;
}

Result<void> RunExecution::placeFiles()
{
    for (const auto& [path, text] : m_run.plan().files)
        if (auto put = m_box->putFile(path, text); !put)
            return refuse(
                "materialization_failed",
                std::format("the file \"{}\" could not be placed in the workspace: {}", path, put.error().message),
                put.error().detail);
    return {};
}

void RunExecution::addFirstCommand()
{
    const auto& plan = m_run.plan();
    if (!plan.command)
        return;
    sandbox::Command command{.argv = plan.command->argv,
                             .env = {plan.command->env.begin(), plan.command->env.end()},
                             .stdinBytes = plan.command->stdinBytes,
                             .limits = plan.limits.command};
    if (!plan.command->skill.empty()) {
        const auto skill = std::ranges::find(plan.skills, plan.command->skill, &registry::PinnedSkill::name);
        const auto script = std::ranges::find(skill->files, plan.command->script, &contract::RevisionFile::path);
        const auto first = Materializer::firstBytes(*m_trees, plan.command->skill, plan.command->script);
        command.argv = scriptArgv(plan.command->skill, *script, first, plan.command->args);
    }
    m_run.addFirstCommand(std::move(command));
}

RunOutcome RunExecution::runCommands()
{
    RunOutcome outcome{.state = "succeeded", .termination = "exited", .reason = {}, .message = {}};
    auto idleEnd = steady_clock::now() + m_parts.sessionIdle;
    for (;;) {
        std::optional<LiveRun::Work> work;
        const bool settle = m_run.hasUnstoredCommands();
        const auto deadline =
            m_run.plan().session && settle ? std::min(idleEnd, steady_clock::now() + kSettle) : idleEnd;
        switch (m_run.nextCommand(deadline, work)) {
        case LiveRun::Waited::Over:
            return m_run.cancelled().stop_requested() ? cancelledOutcome() : outcome;
        case LiveRun::Waited::Idle:
            if (auto ended = whileIdle(idleEnd))
                return *ended;
            continue;
        case LiveRun::Waited::Command:
            break;
        }
        auto one = runOne(*work);
        if (one.state == "cancelled" || one.termination == "box_lost")
            return one;
        if (!m_run.plan().session)
            outcome = std::move(one);
        if (m_run.unstoredBytes() > kUnstoredBytes && m_run.plan().session)
            storeCommands();
        idleEnd = steady_clock::now() + m_parts.sessionIdle;
    }
}

std::optional<RunOutcome> RunExecution::whileIdle(LiveRun::Deadline idleEnd)
{
    if (steady_clock::now() < idleEnd) {
        storeCommands();
        return std::nullopt;
    }
    if (!m_run.closeIfIdle()) // a command came just now
        return std::nullopt;
    return RunOutcome{.state = "succeeded",
                      .termination = "exited",
                      .reason = "idle",
                      .message =
                          std::format("the session was closed after {} s without a command",
                                      std::chrono::duration_cast<std::chrono::seconds>(m_parts.sessionIdle).count())};
}

RunOutcome RunExecution::runOne(const LiveRun::Work& work)
{
    // The run may have been ended, and the session may have expired, while the command waited.
    const auto session = m_parts.broker.open(work.carrier, m_run);
    if (session)
        return dispatch(work, *session);
    if (session.error().reason == "run_over") {
        const auto by = identityOf(m_parts.broker.whoAsked(work.carrier));
        const auto record = commandRecord(by, m_run.plan(), work.id, work.command.cwd);
        addEnding(work, refusedRecord(record, "run_over"));
        return cancelledOutcome();
    }
    // Nobody whom the ledger could name asked for this.
    const auto record = commandRecord(auth::Identity{}, m_run.plan(), work.id, work.command.cwd);
    addEnding(work, refusedRecord(record, session.error().reason));
    return notStarted(work, session.error());
}

RunOutcome RunExecution::dispatch(const LiveRun::Work& work, const ExecutionSession& session)
{
    const auto record = commandRecord(identityOf(session), m_run.plan(), work.id, work.command.cwd);
    OutputEvents sink(m_run.events(), work.id);
    auto result = m_box->run(work.command, sink, m_run.cancelled());
    if (!result && (result.error().code == ErrorCode::NotFound || result.error().code == ErrorCode::InvalidArgument)) {
        addEnding(work, refusedRecord(record, kNotStarted));
        return notStarted(work, result.error());
    }
    const auto seen = result ? *result : sandbox::CommandResult{}; // box_lost
    addEnding(work, endedRecord(record, seen));
    m_run.commandEnded(work.id, seen);
    if (!result)
        return outcomeOf(result.error());
    checkFirstOutput(*result);
    if (m_parts.metrics)
        m_parts.metrics->commandEnded(result->wall, sandbox::terminationName(result->termination));
    m_wallMs += static_cast<std::uint64_t>(std::max<std::int64_t>(0, result->wall.count()));
    const auto meter = m_box->usage();
    m_run.events().append("usage", std::format(R"({{"command":"{}","cpu_us":{},"peak_memory_bytes":{}}})", work.id,
                                               meter.cpu.count(), meter.peakMemoryBytes));
    return result->termination == sandbox::Termination::Cancelled ? cancelledOutcome() : runs::outcomeOf(*result);
}

void RunExecution::checkFirstOutput(const sandbox::CommandResult& result)
{
    const auto& planned = m_run.plan().command;
    if (std::exchange(m_firstEnded, true) || !planned || !planned->outputSchema || !m_parts.checkSchema)
        return;
    m_run.setOutputCheck(checkOutput(m_parts.checkSchema, *planned->outputSchema, result));
}

RunOutcome RunExecution::notStarted(const LiveRun::Work& work, const Error& why)
{
    m_run.commandNotStarted(work.id, why.message);
    return {.state = "failed",
            .termination = std::string(kNotStarted),
            .reason = std::string(kNotStarted),
            .message = why.message};
}

/// A session's command is answered when its end stands in the ledger; a run's own command ends with the run's end, in
/// one transaction.
void RunExecution::addEnding(const LiveRun::Work& work, audit::Record record)
{
    m_endings.push_back({work.reservation, std::move(record)});
    if (!m_run.plan().session)
        return;
    if (auto done = m_parts.journal.complete(m_endings); !done)
        return report(done.error()); // tried again with the next, and with the run's end
    m_endings.clear();
}

void RunExecution::refuseUnstarted(const RunOutcome& outcome)
{
    for (const auto& work : m_run.takeUnstarted()) {
        const auto by = identityOf(m_parts.broker.whoAsked(work.carrier));
        const auto record = commandRecord(by, m_run.plan(), work.id, work.command.cwd);
        m_endings.push_back(
            {work.reservation, refusedRecord(record, outcome.reason.empty() ? "run_over" : outcome.reason)});
    }
}

void RunExecution::storeCommands()
{
    const auto rows = m_run.unstoredCommands();
    if (rows.empty())
        return;
    if (auto put = m_parts.journal.putCommands(m_run.plan(), rows); !put)
        return report(put.error()); // they are tried again with the run's end
    m_run.commandsStored(rows);
}

void RunExecution::measure()
{
    const auto meter = m_box->usage();
    contract::RunUsage usage{.cpuMs = static_cast<std::uint64_t>(meter.cpu.count() / 1000),
                             .wallMs = m_wallMs,
                             .peakMemoryBytes = meter.peakMemoryBytes,
                             .memoryLimitBytes = m_run.plan().limits.box.memoryBytes,
                             .cpuLimit = m_run.plan().limits.box.cpus,
                             .limitsEnforcement = meter.hard ? "hard" : "soft"};
    if (const auto workspace = m_box->measureWorkspace())
        usage.workspaceBytes = workspace->usedBytes;
    for (CommandEnding& ending : m_endings)
        ending.record.metadata.workspaceKib = static_cast<std::int64_t>(usage.workspaceBytes / 1024);
    m_run.setUsage(std::move(usage));
}

void RunExecution::collect(RunOutcome& outcome)
{
    m_run.enter("collecting");
    auto collected = m_parts.collector.collect(*m_box, m_run, m_holds);
    if (collected)
        return;
    report(collected.error());
    if (outcome.state == "succeeded") {
        outcome.state = "failed";
        outcome.reason = "collection_failed";
        outcome.message = "the command succeeded, but its outputs could not be kept: " + collected.error().message;
    }
}

void RunExecution::destroyBox()
{
    auto destroyed = m_box->destroy();
    add(destroyed ? Count::BoxRemoved : Count::CleanupFailed);
    if (!destroyed)
        report(destroyed.error());
    m_box.reset();
    m_trees.reset(); // a tree may go only after the box that shows it
}

void RunExecution::finish(RunOutcome outcome)
{
    if (!m_run.close() && outcome.state != "cancelled")
        outcome = cancelledOutcome();
    // The kernel takes the box apart while the end becomes durable: neither needs the other, and both take a while.
    if (m_box)
        m_box->kill();
    store(outcome);
    if (m_box)
        destroyBox();
    m_holds.clear();
    m_trees.reset();
    if (m_parts.metrics)
        m_parts.metrics->runEnded(outcome.state);
    m_run.publishEnd();
}

void RunExecution::store(RunOutcome& outcome)
{
    refuseUnstarted(outcome);
    auto stored = storeEnd(outcome);
    if (stored)
        return;
    report(stored.error());
    // Nobody is told of an end that is not on record.
    outcome = {.state = "failed",
               .termination = outcome.termination,
               .reason = "not_stored",
               .message = "the run ended, but its results could not be stored: " + stored.error().message};
    m_run.conclude(outcome);
    (void)m_run.events().prepareEnd(endEvent(outcome));
}

Result<void> RunExecution::storeEnd(const RunOutcome& outcome)
{
    m_run.conclude(outcome);
    const auto events = m_run.events().prepareEnd(endEvent(outcome));
    const auto commands = m_run.unstoredCommands();
    const auto begin = steady_clock::now();
    for (auto pause = kFirstStorePause;; pause = std::min(2 * pause, kLongestStorePause)) {
        auto stored = m_parts.journal.end(m_run, commands, m_run.artifacts(), events, m_endings);
        const auto next = steady_clock::now() + pause;
        if (stored || next > begin + storePatience())
            return stored;
        while (steady_clock::now() < next && steady_clock::now() < begin + storePatience())
            std::this_thread::sleep_for(kFirstStorePause);
    }
}

milliseconds RunExecution::storePatience() const
{
    const bool stopping = m_parts.stopping && *m_parts.stopping;
    return stopping ? std::min(m_parts.storePatience, kStoppingStorePatience) : m_parts.storePatience;
}

} // namespace assay::runs
