// SPDX-License-Identifier: Apache-2.0
#include "server/runs/run_records.h"

#include "server/registry/pins.h"
#include "server/runs/run_audit.h"
#include "server/runs/run_row.h"
#include "server/store/page_token.h"
#include "server/store/run_event_table.h"

#include <algorithm>

namespace assay::runs {

namespace {

using store::ArtifactTable;
using store::CommandTable;
using store::Connection;
using store::RunEventTable;
using store::RunTable;

constexpr std::uint32_t kListedCommands = 1000;
constexpr std::uint32_t kListedArtifacts = 1000;
constexpr std::uint64_t kInlineOutputBytes = 4ULL << 20;
constexpr std::size_t kMaxLeftovers = 10'000;         ///< more are found open when the server starts again
constexpr std::string_view kWorkspace = "/workspace"; // where a run's own command starts

std::uint64_t keptBytes(const store::CommandRow& row)
{
    return row.out.totalBytes + row.err.totalBytes; // at least what is kept
}

/// The commands of a run, oldest first, with as much output as may be carried inline.
Result<std::vector<contract::CommandResult>> commandsOf(Connection& connection, std::string_view fingerprint,
                                                        std::string_view run)
{
    CommandTable table(connection);
    auto rows = table.list(fingerprint, run, store::WithOutput::No, kListedCommands);
    if (!rows)
        return forward(rows);
    std::uint64_t budget = kInlineOutputBytes;
    for (auto row = rows->rbegin(); row != rows->rend(); ++row) {
        // What a stream kept may be far less than it wrote, so the first is always read.
        if (row != rows->rbegin() && keptBytes(*row) > budget)
            break;
        budget -= std::min(budget, keptBytes(*row));
        auto whole = table.find(fingerprint, run, row->id);
        if (!whole)
            return forward(whole);
        if (*whole)
            *row = std::move(**whole);
    }
    std::vector<contract::CommandResult> out;
    for (const auto& row : *rows)
        out.push_back(toContract(row));
    return out;
}

store::ListIdentity listIdentity(std::string_view fingerprint, const contract::RunFilter& filter,
                                 const std::string& since)
{
    return {.kind = "runs", .fingerprint = fingerprint, .filter = {filter.state, filter.agent, filter.skill, since}};
}

} // namespace

Result<std::int64_t> RunRecords::begin(const LiveRun& run, const std::string& manifest, const auth::Identity& by)
{
    const auto& plan = run.plan();
    auto row = planRow(plan, by.principal);
    row.manifest = manifest;
    row.manifestDigest = run.manifestDigest();
    row.phases = progressOf(run.ending()).phases;
    const auto started = runRecord(by, audit::Operation::RunStart, audit::Decision::Allowed, plan);
    return m_database.write([&](Connection& connection) -> Result<std::int64_t> {
        auto inserted = registry::checkStillRunnable(connection, plan.scopeFingerprint, plan.skills);
        if (inserted)
            inserted = RunTable(connection).insert(plan.scopeFingerprint, row);
        if (inserted)
            inserted = m_ledger.append(connection, started);
        if (!inserted)
            return forward(inserted);
        if (!plan.command)
            return 0;
        return m_ledger.reserve(connection, commandRecord(by, plan, plan.command->id, kWorkspace));
    });
}

Result<std::int64_t> RunRecords::reserve(const audit::Record& record)
{
    return m_database.write([&](Connection& connection) { return m_ledger.reserve(connection, record); });
}

Result<void> RunRecords::completeIn(Connection& connection, const std::vector<CommandEnding>& endings)
{
    for (const auto& ending : endings)
        if (auto done = m_ledger.complete(connection, ending.reservation, ending.record); !done)
            return done;
    return {};
}

Result<void> RunRecords::complete(const std::vector<CommandEnding>& endings)
{
    return m_database.write([&](Connection& connection) { return completeIn(connection, endings); });
}

void RunRecords::completeLater(CommandEnding ending)
{
    const std::lock_guard lock(m_mutex);
    if (m_leftovers.size() < kMaxLeftovers)
        m_leftovers.push_back(std::move(ending));
}

void RunRecords::completeLeftovers()
{
    std::vector<CommandEnding> endings;
    {
        const std::lock_guard lock(m_mutex);
        endings.swap(m_leftovers);
    }
    for (CommandEnding& each : endings) // each by itself, so that none holds up another
        if (auto done = complete({each}); !done)
            completeLater(std::move(each));
}

Result<void> RunRecords::noteAll(const std::vector<audit::Record>& records)
{
    if (records.empty())
        return {};
    return m_database.write([&](Connection& connection) -> Result<void> {
        for (const auto& record : records)
            if (auto noted = m_ledger.append(connection, record); !noted)
                return noted;
        return {};
    });
}

Result<void> RunRecords::refused(const RunPlan& plan, const Error& why, const auth::Identity& by, Timestamp now)
{
    auto row = planRow(plan, by.principal);
    row.state = "refused";
    row.reason = why.reason;
    row.message = why.message;
    row.endedAt = now;
    auto record = runRecord(by, audit::Operation::RunStart, audit::Decision::Refused, plan);
    record.metadata.reason = why.reason;
    return m_database.write([&](Connection& connection) -> Result<void> {
        if (auto inserted = RunTable(connection).insert(plan.scopeFingerprint, row); !inserted)
            return inserted;
        return m_ledger.append(connection, record);
    });
}

Result<void> RunRecords::putCommands(const RunPlan& plan, const std::vector<store::CommandRow>& rows)
{
    return m_database.write([&](Connection& connection) -> Result<void> {
        CommandTable table(connection);
        for (const auto& row : rows)
            if (auto put = table.put(plan.scopeFingerprint, plan.runId, row); !put)
                return put;
        return {};
    });
}

Result<void> RunRecords::end(const LiveRun& run, const std::vector<store::CommandRow>& commands,
                             const std::vector<store::ArtifactRow>& artifacts, std::string_view events,
                             const std::vector<CommandEnding>& endings)
{
    const auto& scope = run.plan().scopeFingerprint;
    const auto& id = run.plan().runId;
    const auto ending = run.ending();
    const auto progress = progressOf(ending);
    auto stored = m_database.write([&](Connection& connection) -> Result<void> {
        if (auto updated = RunTable(connection).update(scope, id, progress); !updated)
            return updated;
        CommandTable commandTable(connection);
        for (const auto& row : commands)
            if (auto put = commandTable.put(scope, id, row); !put)
                return put;
        ArtifactTable artifactTable(connection);
        for (const auto& row : artifacts)
            if (auto inserted = artifactTable.insert(scope, row); !inserted)
                return inserted;
        if (auto put = RunEventTable(connection).put(scope, id, events); !put)
            return put;
        if (auto noted = noteRefusal(connection, run.plan(), ending); !noted)
            return noted;
        return completeIn(connection, endings);
    });
    if (stored)
        completeLeftovers();
    return stored;
}

/// `run.start allowed` stands there already: what follows it says that the run was refused after all, and why.
Result<void> RunRecords::noteRefusal(Connection& connection, const RunPlan& plan, const contract::Run& ending)
{
    if (ending.state != "refused")
        return {};
    auto record = runRecord(plan.startedBy, audit::Operation::RunStart, audit::Decision::Refused, plan);
    record.metadata.reason = ending.reason;
    return m_ledger.append(connection, record);
}

Result<std::optional<contract::Run>> RunRecords::find(std::string_view fingerprint, std::string_view id)
{
    return m_database.read([&](Connection& connection) -> Result<std::optional<contract::Run>> {
        auto row = RunTable(connection).find(fingerprint, id);
        if (!row)
            return forward(row);
        if (!*row)
            return std::nullopt;
        auto run = runOf(fingerprint, **row);
        auto commands = commandsOf(connection, fingerprint, id);
        if (!commands)
            return forward(commands);
        run.commands = std::move(*commands);
        auto artifacts = ArtifactTable(connection).list(fingerprint, id, {}, kListedArtifacts);
        if (!artifacts)
            return forward(artifacts);
        for (const auto& artifact : *artifacts)
            run.artifacts.push_back(toContract(artifact));
        return run;
    });
}

Result<std::optional<store::RunRow>> RunRecords::row(std::string_view fingerprint, std::string_view id)
{
    return m_database.read([&](Connection& connection) { return RunTable(connection).find(fingerprint, id); });
}

Result<contract::Page<contract::Run>> RunRecords::list(std::string_view fingerprint, const contract::RunFilter& filter,
                                                       const contract::PageRequest& page)
{
    const auto since = filter.since ? formatTimestamp(*filter.since) : std::string();
    const auto identity = listIdentity(fingerprint, filter, since);
    auto cursor = store::readPageToken(identity, page.token);
    if (!cursor)
        return forward(cursor);
    const store::RunQuery query{.state = filter.state,
                                .agent = filter.agent,
                                .skill = filter.skill,
                                .since = filter.since,
                                .beforeId = *cursor,
                                .limit = page.size};
    auto listed =
        m_database.read([&](Connection& connection) { return RunTable(connection).list(fingerprint, query); });
    if (!listed)
        return forward(listed);
    contract::Page<contract::Run> out;
    for (const auto& row : listed->rows)
        out.items.push_back(runOf(fingerprint, row));
    if (listed->more)
        out.nextPageToken = store::makePageToken(identity, *listed->more);
    return out;
}

Result<std::optional<contract::CommandResult>> RunRecords::command(std::string_view fingerprint, std::string_view run,
                                                                   std::string_view id)
{
    auto row =
        m_database.read([&](Connection& connection) { return CommandTable(connection).find(fingerprint, run, id); });
    if (!row)
        return forward(row);
    return *row ? std::optional(toContract(**row)) : std::nullopt;
}

Result<std::optional<std::string>> RunRecords::events(std::string_view fingerprint, std::string_view run)
{
    return m_database.read([&](Connection& connection) { return RunEventTable(connection).find(fingerprint, run); });
}

Result<contract::Page<contract::Artifact>> RunRecords::artifacts(std::string_view fingerprint, std::string_view run,
                                                                 const contract::PageRequest& page)
{
    const store::ListIdentity identity{.kind = "artifacts", .fingerprint = fingerprint, .filter = {run}};
    auto after = store::readPageToken(identity, page.token);
    if (!after)
        return forward(after);
    auto rows = m_database.read([&](Connection& connection) {
        return ArtifactTable(connection).list(fingerprint, run, *after, page.size + 1);
    });
    if (!rows)
        return forward(rows);
    contract::Page<contract::Artifact> out;
    if (rows->size() > page.size) {
        rows->pop_back();
        out.nextPageToken = store::makePageToken(identity, rows->back().path);
    }
    for (const auto& row : *rows)
        out.items.push_back(toContract(row));
    return out;
}

Result<std::optional<store::ArtifactRow>> RunRecords::artifact(std::string_view fingerprint, std::string_view id)
{
    return m_database.read([&](Connection& connection) { return ArtifactTable(connection).find(fingerprint, id); });
}

Result<std::int64_t> RunRecords::interruptUnfinished(Timestamp now)
{
    return m_database.write([&](Connection& connection) {
        return RunTable(connection)
            .interruptUnfinished(now, "the server ended while this run was going on; what it "
                                      "had stored by then is kept");
    });
}

} // namespace assay::runs
