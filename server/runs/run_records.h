// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/runs/run_journal.h"
#include "server/store/database.h"
#include "server/store/run_table.h"

namespace assay::runs {

/// Runs in the database: written twice for a one-shot run, each time in one durable transaction; read back whole.
/// Thread-safe; calls block.
class RunRecords final : public RunJournal
{
public:
    explicit RunRecords(store::Database& database) : m_database(database) {}

    /// A new run with its manifest: durable before any box exists.
    Result<void> begin(const LiveRun& run, const std::string& manifest, std::string_view creator);
    /// A run that may not start. `plan` holds what was found before the refusal; there may be no manifest.
    Result<void> refused(const RunPlan& plan, const Error& why, std::string_view creator, Timestamp now);
    Result<void> putCommands(const RunPlan& plan, const std::vector<store::CommandRow>& rows) override;
    Result<void> end(const LiveRun& run, const std::vector<store::CommandRow>& commands,
                     const std::vector<store::ArtifactRow>& artifacts, std::string_view events) override;

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
    store::Database& m_database;
};

} // namespace assay::runs
