// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/review/desk.h"
#include "server/runs/run_service.h"
#include "server/sandbox/bubblewrap/driver.h"
#include "server/store/package_store_factory.h"

#include <QTemporaryDir>
#include <map>
#include <memory>
#include <string>

namespace assay::test {

/// A server's parts for runs on a data directory of its own, with the real driver. `restart` makes all of them anew on
/// the same directory, as after a crash.
class RunWorld final : public runs::BoxProvider
{
public:
    explicit RunWorld(std::function<void(runs::RunSettings&)> adjust = {}, std::string backend = "database");
    ~RunWorld() override;

    void restart();
    runs::RunService& runs() { return *m_runs; }
    registry::SkillService& skills() { return *m_skills; }
    registry::AgentService& agents() { return *m_agents; }
    review::Desk& desk() { return *m_desk; }
    const Clock& clock() const { return m_clock; }
    store::Database& database() { return *m_database; }
    store::SkillPackageStore& packages() { return *m_packages; }
    std::filesystem::path directory() const { return m_directory.path().toStdString(); }
    /// Called when a run asks for its driver: after its skills are pinned, before it is written.
    std::function<void()> whenPinned;
    /// Empty when boxes can be made here; otherwise why not.
    std::string unavailable();

    /// Waits until no run is live or queued, 10 s at most.
    bool becomesIdle();

    static auth::Identity someone(std::string scope = "sc_00000000000000000000000000000001");
    /// Publishes; `files` maps a path to its text, and a path that ends with '*' is executable. The revision's id.
    std::string publish(const std::string& name, std::map<std::string, std::string> files,
                        const auth::Identity& by = someone());
    /// Runs `argv` with the given skills to its end.
    Result<contract::Run> runArgv(std::vector<std::string> argv, contract::StartRun request = {},
                                  const auth::Identity& by = someone());

private:
    Result<sandbox::BoxDriver*> driver(std::string_view name) override;
    sandbox::BaseRoot base() override { return {.digest = "host, unpinned", .root = {}}; }
    void open();
    void close();

    QTemporaryDir m_directory;
    const std::function<void(runs::RunSettings&)> m_adjust;
    const std::string m_backend;
    SystemClock m_clock;
    std::unique_ptr<store::Database> m_database;
    std::unique_ptr<store::SkillPackageStore> m_packages;
    std::unique_ptr<store::SkillPackageStore> m_artifacts;
    std::unique_ptr<review::Desk> m_desk;
    std::unique_ptr<registry::SkillService> m_skills;
    std::unique_ptr<registry::AgentService> m_agents;
    std::unique_ptr<sandbox::bubblewrap::Driver> m_driver;
    std::unique_ptr<runs::RunService> m_runs;
};

/// A skill's SKILL.md.
std::string skillMd(const std::string& name, const std::string& extra = {});

} // namespace assay::test
