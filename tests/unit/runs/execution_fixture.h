// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/ids.h"
#include "server/core/json.h"
#include "server/runs/run_execution.h"
#include "tests/support/audit_records.h"
#include "tests/unit/runs/counting_metrics.h"
#include "tests/unit/runs/fake_box.h"
#include "tests/unit/runs/package_fixture.h"

#include <QTemporaryDir>
#include <thread>

namespace assay::test {

using namespace runs;

/// What tests of executions stand on: a run with a fake box, journal and clock, and a real cache and session sealer.
class ExecutionFixture
{
protected:
    static const PackageFixture& demo()
    {
        static const PackageFixture fixture("demo", {{"SKILL.md", "x"}, {"run.py", "print()"}});
        return fixture;
    }

    struct Records final : RunJournal
    {
        Result<void> putCommands(const RunPlan&, const std::vector<store::CommandRow>& rows) override
        {
            put += rows.size();
            return {};
        }
        Result<void> end(const LiveRun& run, const std::vector<store::CommandRow>& rows,
                         const std::vector<store::ArtifactRow>& artifactRows, std::string_view text,
                         const std::vector<CommandEnding>& ends) override
        {
            if (failures-- > 0)
                return fail(ErrorCode::Unavailable, "the disk is full");
            ended = run.ending();
            commands = rows;
            artifacts = artifactRows;
            events = text;
            endings.insert(endings.end(), ends.begin(), ends.end());
            return {};
        }
        Result<void> complete(const std::vector<CommandEnding>& ends) override
        {
            if (completeFails)
                return fail(ErrorCode::Unavailable, "the disk is full");
            endings.insert(endings.end(), ends.begin(), ends.end());
            return {};
        }
        Result<void> note(const audit::Record& record) override
        {
            noted.push_back(record);
            return {};
        }
        std::vector<CommandEnding> endings;
        std::vector<audit::Record> noted;
        bool completeFails = false;
        std::atomic<std::size_t> put{0};
        int failures = 0;
        contract::Run ended;
        std::vector<store::CommandRow> commands;
        std::vector<store::ArtifactRow> artifacts;
        std::string events;
    };

    struct Catalog final : CatalogPort
    {
        Result<contract::Agent> agent(const auth::Identity&, std::string_view) override
        {
            return fail(ErrorCode::NotFound, "");
        }
        Result<std::vector<registry::PinnedSkill>> pin(std::string_view, const std::vector<std::string>&,
                                                       const std::map<std::string, std::string>&) override
        {
            return std::vector<registry::PinnedSkill>{};
        }
        Result<store::Bundle> bundle(std::string_view, const Digest&) override
        {
            if (package)
                return package->bundle();
            return refuse("digest_mismatch", "the bundle is damaged");
        }
        const PackageFixture* package = nullptr;
    };

    struct World
    {
        QTemporaryDir directory;
        FakeClock clock;
        FakeDriver driver;
        BoxScript box;
        MemoryStore artifacts;
        Catalog catalog;
        Records records;
        std::unique_ptr<TreeCache> cache =
            std::move(TreeCache::open({directory.path().toStdString(), 1 << 20}).value());
        Materializer materializer{catalog, *cache};
        Collector collector{artifacts, clock};
        std::vector<std::string> reports;
        CountingMetrics metrics;
        std::unique_ptr<SessionSealer> sealer = std::move(SessionSealer::open({}, clock).value());
        ExecutionBroker broker{*sealer, records};
        ExecutionParts parts{materializer,
                             collector,
                             records,
                             broker,
                             [this](sandbox::BoxDriver&, sandbox::BoxSpec spec) -> Result<std::unique_ptr<LiveBox>> {
                                 box.note("create");
                                 box.spec = std::move(spec);
                                 if (box.createError)
                                     return std::unexpected(*box.createError);
                                 return std::make_unique<FakeBox>(box);
                             },
                             [this](std::string_view, const Error& error) { reports.push_back(error.message); },
                             std::chrono::milliseconds(10'000),
                             &metrics,
                             {}};
        std::unique_ptr<LiveRun> run;
        void execute() { RunExecution(parts, driver, *run).execute(); }
    };

    /// A run of a script of the package `demo`, or a session.
    static RunPlan plan(bool session = false)
    {
        RunPlan out;
        out.runId = "run_01ARZ3NDEKTSV4RRFFQ69G5FAV";
        out.scopeFingerprint = kScopeA;
        out.skills = {demo().pinned};
        out.storeIdentity = "memory";
        out.driver = "fake";
        out.outputs = {"**"};
        out.session = session;
        if (!session)
            out.command = PlannedCommand{.skill = "demo",
                                         .script = "run.py",
                                         .args = {"a"},
                                         .argv = {},
                                         .env = {{"K", "v"}},
                                         .stdinBytes = "{}\n"};
        return out;
    }
    void use(RunPlan plan)
    {
        if (plan.command) {
            plan.command->id = kCommandId;
            plan.command->carrier = m_world->broker.sealFor(m_by, plan.runId).value();
        }
        m_world->run = std::make_unique<LiveRun>(std::move(plan), "sha256:m", m_world->clock);
        if (m_world->run->plan().command)
            m_world->run->reserveFirst(1);
    }
    /// A command as the service accepts it: its id.
    Result<std::string> add(std::vector<std::string> argv)
    {
        auto carrier = m_world->broker.admit(m_by, *m_world->run);
        if (!carrier)
            return forward(carrier);
        return add(std::move(argv), *carrier);
    }
    Result<std::string> add(std::vector<std::string> argv, std::string carrier)
    {
        const std::string id = newId("cmd_", m_world->clock.now());
        auto added = m_world->run->addCommand({id, {.argv = std::move(argv)}, std::move(carrier), ++m_reserved});
        return added ? Result<std::string>(id) : forward(added);
    }
    std::string endings() const
    {
        std::string out;
        for (const CommandEnding& each : m_world->records.endings)
            out += std::to_string(each.reservation) + ":" + std::string(nameOf(each.record.decision)) + ":" +
                   each.record.metadata.reason + each.record.metadata.termination + " ";
        return out;
    }
    const auth::Identity m_by = someone(kScopeA);
    std::int64_t m_reserved = 0;
    std::unique_ptr<World> m_world;

    void setUp()
    {
        m_reserved = 0;
        m_world = std::make_unique<World>();
        m_world->catalog.package = &demo();
        m_world->box.result = exited(0);
        use(plan());
    }
};

} // namespace assay::test
