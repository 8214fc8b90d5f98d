// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/ledger.h"
#include "server/runs/run_journal.h"
#include "server/store/database.h"
#include "server/store/run_table.h"

#include <mutex>

namespace assay::runs {

/// Runs in the database: written twice for a one-shot run, each time in one durable transaction; read back whole.
/// Thread-safe; calls block.
class RunRecords final : public RunJournal
{
public:
    RunRecords(store::Database& database, const Clock& clock) : m_database(database), m_ledger(database, clock) {}

    /// A new run with its manifest, and the reservation of its first command: durable before any box exists. The
    /// reservation's number; 0 without a command. `Refused` when one of its revisions was withdrawn or stopped since it
    /// was pinned: whoever withdraws one sees every run that was written before.
    Result<std::int64_t> begin(const LiveRun& run, const std::string& manifest, const auth::Identity& by);
    /// A run that may not start. `plan` holds what was found before the refusal; there may be no manifest.
    Result<void> refused(const RunPlan& plan, const Error& why, const auth::Identity& by, Timestamp now);
    Result<void> putCommands(const RunPlan& plan, const std::vector<store::CommandRow>& rows) override;
    Result<void> end(const LiveRun& run, const std::vector<store::CommandRow>& commands,
                     const std::vector<store::ArtifactRow>& artifacts, std::string_view events,
                     const std::vector<CommandEnding>& endings) override;
    /// Durable before the command goes anywhere.
    Result<std::int64_t> reserve(const audit::Record& record);
    Result<void> complete(const std::vector<CommandEnding>& endings) override;
    Result<void> note(const audit::Record& record) override { return m_ledger.record(record); }
    /// In one transaction.
    Result<void> noteAll(const std::vector<audit::Record>& records);
    /// An end that could not be written: tried again whenever a run has ended.
    void completeLater(CommandEnding ending);

    /// A run with its artifacts and commands; the output of the newest commands, as much as 4 MiB hold.
    Result<std::optional<contract::Run>> find(std::string_view fingerprint, std::string_view id);
    Result<std::optional<store::RunRow>> row(std::string_view fingerprint, std::string_view id);
    /// Without commands and artifacts.
    Result<contract::Page<contract::Run>> list(std::string_view fingerprint, const contract::RunFilter& filter,
                                               const contract::PageRequest& page);
    Result<std::optional<contract::CommandResult>> command(std::string_view fingerprint, std::string_view run,
                                                           std::string_view id);
    Result<std::optional<std::string>> events(std::string_view fingerprint, std::string_view run);
    Result<contract::Page<contract::Artifact>> artifacts(std::string_view fingerprint, std::string_view run,
                                                         const contract::PageRequest& page);
    Result<std::optional<store::ArtifactRow>> artifact(std::string_view fingerprint, std::string_view id);

    /// Ends what a killed server left; the number of runs.
    Result<std::int64_t> interruptUnfinished(Timestamp now);

private:
    Result<void> completeIn(store::Connection& connection, const std::vector<CommandEnding>& endings);

    void completeLeftovers();
    Result<void> noteRefusal(store::Connection& connection, const RunPlan& plan, const contract::Run& ending);

    store::Database& m_database;
    audit::Ledger m_ledger;
    std::mutex m_mutex;
    std::vector<CommandEnding> m_leftovers;
};

} // namespace assay::runs
