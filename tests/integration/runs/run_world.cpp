// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/runs/run_world.h"

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace assay::test {

namespace {

/// A test cannot go on without these.
template <typename T> T must(Result<T> result)
{
    if (result)
        return std::move(*result);
    std::fprintf(stderr, "the fixture failed: %s [%s]\n", result.error().message.c_str(),
                 result.error().detail.c_str());
    std::abort();
}

} // namespace

RunWorld::RunWorld(std::function<void(runs::RunSettings&)> adjust, std::string backend)
    : m_adjust(std::move(adjust)), m_backend(std::move(backend))
{
    open();
}

RunWorld::~RunWorld() { close(); }

void RunWorld::open()
{
    store::DatabaseOptions options;
    options.file = directory() / "assay.db";
    m_database = must(store::Database::open(options));
    const store::PackageStoreSettings store{.backend = m_backend, .filesystemRoot = directory() / "packages"};
    m_packages = must(store::makePackageStore(store, *m_database));
    m_artifacts = must(store::makeArtifactStore(store, *m_database));
    m_desk = std::make_unique<review::Desk>(*m_database, *m_packages, m_clock);
    m_skills = std::make_unique<registry::SkillService>(*m_database, *m_packages, m_clock, registry::PackageLimits{},
                                                        nullptr, m_desk->checks());
    m_agents = std::make_unique<registry::AgentService>(*m_database, m_clock);
    sandbox::bubblewrap::Options box;
    box.dataDirectory = directory();
    box.initProgram = std::filesystem::path(ASSAY_BIN_DIR) / "assay-init";
    m_driver = must(sandbox::bubblewrap::Driver::open(box));
    runs::RunSettings settings;
    settings.cacheDirectory = directory() / "cache";
    settings.schemaChecker = std::filesystem::path(ASSAY_BIN_DIR) / "assay-schema-check";
    if (m_adjust)
        m_adjust(settings);
    m_runs =
        std::make_unique<runs::RunService>(*m_database, *m_skills, *m_agents, *m_artifacts, *this, m_clock, settings);
}

void RunWorld::close()
{
    m_runs.reset();
    m_driver.reset();
    m_agents.reset();
    m_skills.reset();
    m_desk.reset();
    m_artifacts.reset();
    m_packages.reset();
    m_database.reset();
}

void RunWorld::restart()
{
    close();
    open();
}

Result<sandbox::BoxDriver*> RunWorld::driver(std::string_view name)
{
    if (whenPinned)
        whenPinned();
    if (name.empty() || name == "bubblewrap")
        return m_driver.get();
    return refuse("driver_unavailable", "this server has no driver of that name; it has bubblewrap");
}

std::string RunWorld::unavailable()
{
    const auto status = m_driver->probe();
    return status.state == sandbox::DriverState::Ready ? std::string() : status.reason + "; " + status.remedy;
}

bool RunWorld::becomesIdle()
{
    for (int i = 0; i < 1000; ++i) {
        const auto load = m_runs->load();
        if (load.live == 0 && load.queued == 0)
            return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

auth::Identity RunWorld::someone(std::string scope)
{
    return {.scopeFingerprint = std::move(scope),
            .principal = "tester",
            .tokenId = {},
            .roles = auth::Roles(auth::Role::Builder) | auth::Role::Runner};
}

std::string RunWorld::publish(const std::string& name, std::map<std::string, std::string> files,
                              const auth::Identity& by)
{
    const auto storage = std::make_shared<std::map<std::string, std::string>>(std::move(files));
    std::vector<registry::SourceFile> sources;
    for (const auto& [path, text] : *storage) {
        const bool executable = path.ends_with('*');
        sources.push_back({path.substr(0, path.size() - (executable ? 1 : 0)), text, executable});
    }
    return must(m_skills->publish(by, name, registry::PackageSource(std::move(sources), storage), {})).skill.revision;
}

Result<contract::Run> RunWorld::runArgv(std::vector<std::string> argv, contract::StartRun request,
                                        const auth::Identity& by)
{
    request.command = contract::RunCommand{};
    request.command->argv = std::move(argv);
    if (!request.waitMs)
        request.waitMs = 60'000;
    return m_runs->start(by, std::move(request));
}

std::string skillMd(const std::string& name, const std::string& extra)
{
    return "---\nname: " + name + "\ndescription: A test skill.\n" + extra + "---\n\nBody.\n";
}

} // namespace assay::test
