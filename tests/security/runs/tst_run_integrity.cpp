// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/runs/run_world.h"
#include "tests/support/test_support.h"

#include <QFile>
#include <sys/stat.h>

using namespace assay;
using test::RunWorld;

/// What must hold against damage, against the box, and between scopes.
class TestRunIntegrity : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init() { m_world = std::make_unique<RunWorld>(); }
    void cleanup() { m_world.reset(); }
    void anotherScopeSeesNothing();
    void corruptionInTheHostCacheExecutesNothing_data();
    void corruptionInTheHostCacheExecutesNothing();
    void corruptionInTheStoreExecutesNothing();
    void theSealedSkillCannotBeWritten();

private:
    contract::StartRun script(const std::string& skill, const std::string& path) const;
    Result<contract::Run> start(contract::StartRun request)
    {
        return m_world->runs().start(RunWorld::someone(), std::move(request));
    }
    /// Where trees are, also when no path leads there but this process's own descriptor.
    static std::filesystem::path cachedTrees()
    {
        const auto scope = RunWorld::someone().scopeFingerprint;
        for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd"))
            if (std::error_code ignored; std::filesystem::is_directory(each.path() / scope, ignored))
                for (const auto& tree : std::filesystem::directory_iterator(each.path() / scope, ignored))
                    if (tree.path().filename().string().size() > 64)
                        return each.path() / scope;
        return {};
    }
    std::unique_ptr<RunWorld> m_world;
};

void TestRunIntegrity::initTestCase()
{
    RunWorld world;
    const auto why = world.unavailable();
    QVERIFY2(why.empty(), ("no boxes on this machine: " + why).c_str());
}

contract::StartRun TestRunIntegrity::script(const std::string& skill, const std::string& path) const
{
    contract::StartRun request;
    request.skills = {skill};
    request.command = contract::RunCommand{};
    request.command->skill = skill;
    request.command->script = path;
    request.waitMs = 60'000;
    return request;
}

void TestRunIntegrity::anotherScopeSeesNothing()
{
    const auto run = m_world->runArgv({"sh", "-c", "echo x > out/a"});
    ASSAY_OK(run);
    const auto other = RunWorld::someone("sc_00000000000000000000000000000002");
    auto& runs = m_world->runs();
    const auto absent = "run_00000000000000000000000000";
    const auto same = [&](const auto& theirs, const auto& missing) {
        return !theirs && !missing && theirs.error().code == ErrorCode::NotFound &&
               theirs.error().message == missing.error().message && missing.error().code == ErrorCode::NotFound;
    };
    QVERIFY(same(runs.find(other, run->id), runs.find(other, absent)));
    QVERIFY(same(runs.manifest(other, run->id), runs.manifest(other, absent)));
    QVERIFY(same(runs.events(other, run->id, 0), runs.events(other, absent, 0)));
    QVERIFY(same(runs.cancel(other, run->id), runs.cancel(other, absent)));
    QVERIFY(same(runs.finish(other, run->id), runs.finish(other, absent)));
    QVERIFY(same(runs.artifacts(other, run->id, {}), runs.artifacts(other, absent, {})));
    QVERIFY(same(runs.skillFiles(other, run->id, "x"), runs.skillFiles(other, absent, "x")));
    contract::StartCommand command;
    command.argv = {"true"};
    QVERIFY(same(runs.startCommand(other, run->id, command), runs.startCommand(other, absent, command)));
    const auto id = run->commands.at(0).id;
    QVERIFY(same(runs.command(other, run->id, id), runs.command(other, absent, id)));
    const auto artifact = run->artifacts.at(0).id;
    QVERIFY(same(runs.artifact(other, artifact), runs.artifact(other, "art_00000000000000000000000000")));
    QVERIFY(same(runs.artifactContent(other, artifact), runs.artifactContent(other, "junk")));
    QCOMPARE(runs.list(other, {}, {})->items.size(), 0U);
    const auto malformed = runs.find(other, "run_'; drop");
    QVERIFY(same(malformed, runs.find(other, absent)));
}

void TestRunIntegrity::corruptionInTheHostCacheExecutesNothing_data()
{
    QTest::addColumn<quint64>("memoryBytes");
    QTest::newRow("on disk") << quint64{0};
    QTest::newRow("in memory") << quint64{64U << 20};
}

void TestRunIntegrity::corruptionInTheHostCacheExecutesNothing()
{
    QFETCH(const quint64, memoryBytes);
    m_world = std::make_unique<RunWorld>([&](runs::RunSettings& settings) { settings.cacheMemoryBytes = memoryBytes; });
    m_world->publish("demo", {{"SKILL.md", test::skillMd("demo")}, {"a.sh", "echo good\n"}});
    ASSAY_OK(start(script("demo", "a.sh")));
    int changed = 0;
    for (const auto& each : std::filesystem::recursive_directory_iterator(cachedTrees()))
        if (each.path().filename() == "a.sh") {
            QFile file(QString::fromStdString(each.path().string()));
            QVERIFY(::chmod(each.path().c_str(), 0644) == 0 && file.open(QIODevice::WriteOnly));
            file.write("echo evil\n");
            file.close();
            ::chmod(each.path().c_str(), 0444);
            ++changed;
        }
    QCOMPARE(changed, 1);
    const auto refused = start(script("demo", "a.sh"));
    ASSAY_FAILS(refused, ErrorCode::Refused);
    QCOMPARE(refused.error().reason, "digest_mismatch");
    const auto again = start(script("demo", "a.sh"));
    ASSAY_OK(again);
    QCOMPARE(again->commands.at(0).stdoutBytes, "good\n");
}

void TestRunIntegrity::corruptionInTheStoreExecutesNothing()
{
    m_world->publish("demo", {{"SKILL.md", test::skillMd("demo")}, {"a.sh", "echo good\n"}});
    const auto digest = Digest::parse(m_world->skills().find(RunWorld::someone(), "demo")->digest);
    ASSAY_OK(digest);
    ASSAY_OK(m_world->packages().remove(RunWorld::someone().scopeFingerprint, *digest));
    const auto refused = start(script("demo", "a.sh"));
    ASSAY_FAILS(refused, ErrorCode::Refused);
    QVERIFY2(refused.error().reason == "digest_mismatch" || refused.error().reason == "package_store_unavailable",
             refused.error().reason.c_str());
}

void TestRunIntegrity::theSealedSkillCannotBeWritten()
{
    m_world->publish("demo", {{"SKILL.md", test::skillMd("demo")}, {"a.sh", "true\n"}});
    contract::StartRun request;
    request.skills = {"demo"};
    const auto run = m_world->runArgv({"sh", "-c",
                                       "echo x >> /skills/demo/a.sh; rm -f /skills/demo/a.sh; touch /skills/demo/n; "
                                       "touch /skills/n; chmod u+w /skills/demo; ls -A /skills /skills/demo"},
                                      request);
    ASSAY_OK(run);
    QCOMPARE(run->commands.at(0).stdoutBytes, "/skills:\ndemo\n\n/skills/demo:\nSKILL.md\na.sh\n");
}

QTEST_GUILESS_MAIN(TestRunIntegrity)
#include "tst_run_integrity.moc"
