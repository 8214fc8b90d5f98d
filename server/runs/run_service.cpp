// SPDX-License-Identifier: Apache-2.0
#include "server/runs/run_service.h"

#include "server/runs/request_rules.h"
#include "server/runs/run_audit.h"
#include "server/runs/run_service_state.h"

#include <algorithm>
#include <array>
#include <format>

namespace assay::runs {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kCancelWait{5'000};               ///< `cancel` answers with the ended run, or after this
constexpr milliseconds kFinishWait{10'000};              ///< likewise `finish`
constexpr std::uint64_t kInlineOutputBytes = 4ULL << 20; ///< of a live session's stored commands
constexpr std::array<std::string_view, 6> kLiveStates{"queued",        "pinned",  "provisioning",
                                                      "materializing", "running", "collecting"};

bool isLiveState(std::string_view state) { return std::ranges::find(kLiveStates, state) != kLiveStates.end(); }

bool matches(const contract::Run& run, const contract::RunFilter& filter)
{
    return run.state == filter.state && (filter.agent.empty() || run.agent == filter.agent) &&
           (filter.skill.empty() || std::ranges::contains(run.skills, filter.skill, &contract::RunSkill::name)) &&
           (!filter.since || run.createdAt >= *filter.since);
}

contract::Run withoutDetails(contract::Run run)
{
    run.commands.clear();
    run.artifacts.clear();
    return run;
}

/// A run that ended between the wait and the look, refused by its worker, is the same answer as one refused at once.
Result<contract::Run> answerFor(contract::Run run)
{
    if (run.state != "refused")
        return run;
    Error error{.code = ErrorCode::Refused, .message = run.message, .detail = {}, .reason = run.reason, .problems = {}};
    return refusedRun(std::move(error), run.id);
}

} // namespace

RunService::RunService(store::Database& database, registry::SkillService& skills, registry::AgentService& agents,
                       store::SkillPackageStore& artifacts, BoxProvider& boxes, const Clock& clock,
                       RunSettings settings, Metrics* metrics)
    : m_state(std::make_unique<State>(database, skills, agents, artifacts, boxes, clock, std::move(settings), metrics))
{}

RunService::~RunService() { stop(kFinishWait); }

Result<std::uint64_t> RunService::recover()
{
    auto count = m_state->records.interruptUnfinished(m_state->clock.now());
    if (!count)
        return forward(count);
    return static_cast<std::uint64_t>(*count);
}

void RunService::stop(std::chrono::milliseconds deadline)
{
    const auto end = steady_clock::now() + deadline;
    m_state->stopping = true;
    m_state->scheduler.close();
    const auto runs = m_state->liveRuns.all();
    for (const auto& run : runs)
        run->cancel("server_stopping");
    for (const auto& run : runs)
        m_state->endWaiting(*run);
    for (const auto& run : runs)
        if (!run->waitEnded(end) && m_state->settings.report)
            m_state->settings.report(
                run->plan().runId,
                {.code = ErrorCode::Timeout,
                 .message = std::format("it did not end within {} ms, the time to stop", deadline.count()),
                 .detail = {},
                 .reason = {},
                 .problems = {}});
}

Result<contract::Run> RunService::start(const auth::Identity& by, contract::StartRun request)
{
    if (m_state->stopping)
        return fail(ErrorCode::Unavailable, "the server is stopping and starts no more runs");
    RunPlan plan;
    sandbox::BoxDriver* driver = nullptr;
    if (auto planned = m_state->plan(by, request, plan, driver); !planned) {
        if (planned.error().code == ErrorCode::Refused)
            return m_state->refuseRun(by, plan, std::move(planned).error());
        return forward(planned);
    }
    auto run = m_state->accept(by, std::move(plan), *driver);
    if (!run)
        return forward(run);
    if (request.waitMs && m_state->waitEnded(**run, milliseconds(*request.waitMs)))
        return answerFor((*run)->snapshot());
    return (*run)->snapshot();
}

Result<contract::Page<contract::Run>> RunService::list(const auth::Identity& by, const contract::RunFilter& filter,
                                                       const contract::PageRequest& page)
{
    if (!isLiveState(filter.state)) {
        auto stored = m_state->records.list(by.scopeFingerprint, filter, page);
        if (!stored)
            return stored;
        for (auto& run : stored->items)
            if (isLiveState(run.state))
                if (auto now = find(by, run.id)) // it may have ended since the rows were read
                    run = withoutDetails(std::move(*now));
        return stored;
    }
    // Their number is bounded by the queue and the boxes, so one page holds them, and what the database says of a live
    // run is only that it was accepted.
    contract::Page<contract::Run> out;
    for (const auto& live : m_state->liveRuns.ofScope(by.scopeFingerprint))
        if (auto run = withoutDetails(live->snapshot()); matches(run, filter))
            out.items.push_back(std::move(run));
    return out;
}

Result<contract::Run> RunService::find(const auth::Identity& by, std::string_view id)
{
    const auto live = m_state->live(by, id);
    if (!live)
        return m_state->storedRun(by, id);
    auto run = live->snapshot();
    std::uint64_t budget = kInlineOutputBytes;
    for (auto command = run.commands.rbegin(); command != run.commands.rend(); ++command) {
        const auto total = command->stdoutTotal + command->stderrTotal;
        if (total > budget)
            break;
        budget -= total;
        if (const auto known = live->command(command->id); known && known->stored)
            if (auto stored = m_state->records.command(by.scopeFingerprint, id, command->id); stored && *stored)
                *command = std::move(**stored);
    }
    return run;
}

Result<RunService::Manifest> RunService::manifest(const auth::Identity& by, std::string_view id)
{
    auto row = m_state->storedRow(by, id);
    if (!row)
        return forward(row);
    if (row->manifest.empty())
        return fail(ErrorCode::NotFound, "this run was refused before it was pinned and has no manifest");
    return Manifest{.canonicalJson = std::move(row->manifest), .digest = std::move(row->manifestDigest)};
}

Result<std::unique_ptr<EventCursor>> RunService::events(const auth::Identity& by, std::string_view id,
                                                        std::uint64_t lastId)
{
    if (const auto live = m_state->live(by, id))
        return live->events().cursor(lastId);
    auto run = m_state->storedRow(by, id);
    if (!run)
        return forward(run);
    auto text = m_state->records.events(by.scopeFingerprint, id);
    if (!text)
        return forward(text);
    // A run that was refused or interrupted stored none: its end is all there is to tell.
    auto log = EventLog::fromText(text->value_or(""));
    if (!log)
        return forward(log);
    if (!*text)
        log = EventLog::ofEnd(run->state, run->reason);
    return (*log)->cursor(lastId);
}

Result<contract::Run> RunService::cancel(const auth::Identity& by, std::string_view id)
{
    if (const auto live = m_state->live(by, id)) {
        const bool decides = live->cancel("cancelled");
        const auto record = runRecord(by, audit::Operation::RunCancel, audit::Decision::Allowed, live->plan());
        // The run ends whether or not this can be written: what its command did stands in the ledger by itself.
        if (auto noted = decides ? m_state->records.note(record) : Result<void>{}; !noted && m_state->settings.report)
            m_state->settings.report(id, noted.error());
        m_state->endWaiting(*live);
        m_state->waitEnded(*live, kCancelWait);
        return live->snapshot();
    }
    return m_state->storedRun(by, id);
}

Result<contract::Run> RunService::finish(const auth::Identity& by, std::string_view id)
{
    const auto live = m_state->live(by, id);
    if (!live) {
        auto run = m_state->storedRun(by, id);
        if (run && !run->session)
            return fail(ErrorCode::Conflict, "this run is not a session; it ended by itself");
        return run;
    }
    if (!live->plan().session)
        return fail(ErrorCode::Conflict, "this run is not a session; it ends with its command, or cancel it");
    live->finish();
    m_state->waitEnded(*live, kFinishWait);
    return live->snapshot();
}

std::string RunService::cachePlace() const
{
    return m_state->cache ? (*m_state->cache)->describe()
                          : "packages for boxes cannot be kept: " + m_state->cache.error().message;
}

Result<std::string> RunService::prove(const std::string& driver)
{
    auto found = m_state->boxes.driver(driver);
    if (!found)
        return forward(found);
    if (!m_state->sealer)
        return fail(ErrorCode::Unavailable, "execution sessions cannot be sealed: " + m_state->sealer.error().message,
                    m_state->sealer.error().detail);
    return ReadinessProbe(**m_state->sealer, makeLiveBox).prove(**found, m_state->boxes.base());
}

std::uint64_t RunService::stopPinned(const Stopped& stopped)
{
    const auto isHit = [&](const registry::PinnedSkill& skill) {
        return stopped.revision.empty() ? skill.digest.text() == stopped.digest : skill.revision == stopped.revision;
    };
    auto runs = stopped.scopeFingerprint.empty() ? m_state->liveRuns.all()
                                                 : m_state->liveRuns.ofScope(stopped.scopeFingerprint);
    std::erase_if(runs, [&](const auto& run) { return std::ranges::none_of(run->plan().skills, isHit); });
    std::vector<audit::Record> records;
    for (const auto& run : runs)
        if (run->cancel("revision_stopped"))
            records.push_back(stoppedRecord(run->plan()));
    for (const auto& run : runs)
        m_state->endWaiting(*run);
    if (auto noted = m_state->records.noteAll(records); !noted && m_state->settings.report)
        m_state->settings.report("", noted.error());
    const auto deadline = steady_clock::now() + kCancelWait;
    for (const auto& run : runs)
        run->waitEnded(deadline);
    return records.size(); // one that had ended, and is only not forgotten yet, was not stopped
}

RunService::Load RunService::load() const
{
    const auto load = m_state->scheduler.load();
    return {.live = load.live, .queued = load.queued};
}

store::Removed RunService::sweepTrees(std::chrono::milliseconds unusedFor, store::Removal removal)
{
    return m_state->cache ? (*m_state->cache)->sweep(unusedFor, removal) : store::Removed{};
}

} // namespace assay::runs
