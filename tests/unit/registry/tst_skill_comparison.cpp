// SPDX-License-Identifier: Apache-2.0
#include "server/registry/skill_service.h"
#include "server/store/package_store_factory.h"
#include "tests/support/skill_sources.h"

using namespace assay;
using namespace assay::registry;
using test::kScopeA;
using test::kScopeB;

class TestSkillComparison : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void contentIsTheWholeRevision();
    void comparesTwoRevisions();
    void comparesWithNothing();
    void currentIsResolvedOnce();
    void missingSidesAreNotFound();
    void anUnknownPathIsNotFound();
    void damagedBytesAreNeverCompared();
    void capabilitiesAreStoredAtPublish();
    void capabilitiesOfOlderRevisionsAreMadeWhenAsked();
    void whatARevisionCanNewlyDoIsBesideTheDiff();

private:
    std::string publish(const std::map<std::string, std::string>& files,
                        const std::vector<std::string>& executable = {})
    {
        std::map<std::string, std::string> all = files;
        all.emplace("SKILL.md", "---\nname: demo\ndescription: About demo\n---\nDo it.\n");
        auto published = m_skills->publish(m_by, "demo", test::makeSource(all, executable), {});
        return published ? published->skill.revision : test::explain(published).toStdString();
    }

    const auth::Identity m_by = test::builderOf(kScopeA);
    test::FakeClock m_clock;
    std::unique_ptr<test::StoreFixture> m_store;
    store::Database* m_database = nullptr;
    std::unique_ptr<store::SkillPackageStore> m_packages;
    std::unique_ptr<SkillService> m_skills;
};

void TestSkillComparison::init()
{
    m_store = std::make_unique<test::StoreFixture>();
    m_database = &m_store->open();
    m_packages = store::makePackageStore({}, *m_database).value();
    m_skills = std::make_unique<SkillService>(*m_database, *m_packages, m_clock, PackageLimits{});
}

void TestSkillComparison::cleanup()
{
    m_skills.reset();
    m_packages.reset();
    m_store.reset();
}

void TestSkillComparison::contentIsTheWholeRevision()
{
    const std::string revision =
        publish({{"run.sh", "#!/bin/sh\n"}, {"logo.png", std::string("\x89\0", 2)}}, {"run.sh"});
    const auto content = m_skills->content(m_by, "demo", "current");
    ASSAY_OK(content);
    QCOMPARE(content->revision.id, revision);
    QCOMPARE(content->files.size(), 3U);
    QCOMPARE(content->files[1].path, "logo.png");
    QVERIFY(content->files[1].kind == FileKind::Asset);
    QCOMPARE(content->files[1].mediaType, "image/png");
    QVERIFY(content->files[2].executable);
    QCOMPARE(content->files[2].content, "#!/bin/sh\n");
    QVERIFY(content->files[2].sha256 == Digest::ofBytes("#!/bin/sh\n"));
}

void TestSkillComparison::comparesTwoRevisions()
{
    const std::string first = publish({{"a.py", "one\n"}});
    const std::string second = publish({{"a.py", "two\n"}, {"b.py", "b\n"}}, {"a.py"});
    const auto revisions = m_skills->compared(m_by, "demo", first, second);
    ASSAY_OK(revisions);
    const auto diff = m_skills->compare(m_by, "demo", *revisions, {});
    ASSAY_OK(diff);
    QCOMPARE(diff->from->number, 1U);
    QCOMPARE(diff->to.number, 2U);
    QCOMPARE(diff->package.files.size(), 2U);
    QCOMPARE(diff->package.files[0].status, "modified");
    QVERIFY(diff->package.files[0].newSide->executable);
    QCOMPARE(diff->package.files[1].status, "added");
}

void TestSkillComparison::comparesWithNothing()
{
    publish({{"a.py", "one\n"}});
    const auto revisions = m_skills->compared(m_by, "demo", "none", "current");
    ASSAY_OK(revisions);
    const auto diff = m_skills->compare(m_by, "demo", *revisions, {});
    ASSAY_OK(diff);
    QVERIFY(!diff->from);
    QCOMPARE(diff->package.counts.added, 2U);
}

void TestSkillComparison::currentIsResolvedOnce()
{
    const std::string first = publish({{"a.py", "one\n"}});
    const auto revisions = m_skills->compared(m_by, "demo", first, "current");
    publish({{"a.py", "two\n"}});
    const auto diff = m_skills->compare(m_by, "demo", *revisions, {});
    ASSAY_OK(diff);
    QVERIFY(diff->package.files.empty());
}

void TestSkillComparison::missingSidesAreNotFound()
{
    publish({{"a.py", "one\n"}});
    ASSAY_FAILS(m_skills->compared(m_by, "demo", "current", "none"), ErrorCode::NotFound);
    ASSAY_FAILS(m_skills->compared(m_by, "demo", "rev_01J00000000000000000000000", "current"), ErrorCode::NotFound);
    ASSAY_FAILS(m_skills->compared(m_by, "other", "none", "current"), ErrorCode::NotFound);
    ASSAY_FAILS(m_skills->compared(test::builderOf(kScopeB), "demo", "none", "current"), ErrorCode::NotFound);
    ASSAY_FAILS(m_skills->content(test::builderOf(kScopeB), "demo", "current"), ErrorCode::NotFound);
}

void TestSkillComparison::anUnknownPathIsNotFound()
{
    const std::string first = publish({{"a.py", "one\n"}});
    const std::string second = publish({{"b.py", "two is another\n"}});
    const auto revisions = m_skills->compared(m_by, "demo", first, second);
    ASSAY_OK(revisions);
    ASSAY_FAILS(m_skills->compare(m_by, "demo", *revisions, {3, false, "c.py"}), ErrorCode::NotFound);
    QCOMPARE(m_skills->compare(m_by, "demo", *revisions, {3, false, "a.py"})->package.files.size(), 1U);
    QCOMPARE(m_skills->compare(m_by, "demo", *revisions, {3, false, "SKILL.md"})->package.files.size(), 0U);
}

void TestSkillComparison::damagedBytesAreNeverCompared()
{
    publish({{"a.py", "one\n"}});
    const auto done = m_database->write([](store::Connection& connection) {
        return connection.execute("UPDATE bundles SET bytes = zeroblob(length(bytes))");
    });
    ASSAY_OK(done);
    const auto revisions = m_skills->compared(m_by, "demo", "none", "current");
    ASSAY_OK(revisions);
    ASSAY_FAILS(m_skills->compare(m_by, "demo", *revisions, {}), ErrorCode::Internal);
}

void TestSkillComparison::capabilitiesAreStoredAtPublish()
{
    const std::string revision = publish({{"scripts/a.sh", "curl https://a.example.org\n"}});
    // Without the bytes nothing can be scanned again: what is answered was stored.
    ASSAY_OK(
        m_database->write([](store::Connection& connection) { return connection.execute("DELETE FROM bundles"); }));
    const auto report = m_skills->capabilities(m_by, "demo", "current");
    ASSAY_OK(report);
    QVERIFY(std::ranges::contains(report->items, "a.example.org", &contract::Capability::value));
    QCOMPARE(m_skills->capabilities(m_by, "demo", revision)->items, report->items);
    ASSAY_FAILS(m_skills->capabilities(test::builderOf(kScopeB), "demo", "current"), ErrorCode::NotFound);
    ASSAY_FAILS(m_skills->capabilities(m_by, "demo", "none"), ErrorCode::NotFound);
}

void TestSkillComparison::capabilitiesOfOlderRevisionsAreMadeWhenAsked()
{
    publish({{"scripts/a.sh", "curl https://a.example.org\n"}});
    const auto stored = m_skills->capabilities(m_by, "demo", "current");
    for (const char* old : {"''", "'damaged'", R"('{"rules":0,"left_out":0,"items":[]}')"}) {
        const std::string sql = std::string("UPDATE revisions SET capabilities = ") + old;
        ASSAY_OK(m_database->write([&](store::Connection& connection) { return connection.execute(sql.c_str()); }));
        const auto made = m_skills->capabilities(m_by, "demo", "current");
        ASSAY_OK(made);
        QCOMPARE(made->items, stored->items);
    }
    ASSAY_OK(
        m_database->write([](store::Connection& connection) { return connection.execute("DELETE FROM bundles"); }));
    QCOMPARE(m_skills->capabilities(m_by, "demo", "current")->items, stored->items); // kept
}

void TestSkillComparison::whatARevisionCanNewlyDoIsBesideTheDiff()
{
    const std::string first = publish({{"scripts/a.sh", "echo\n"}});
    const std::string second = publish({{"scripts/a.sh", "curl https://a.example.org\n"}});
    const auto revisions = m_skills->compared(m_by, "demo", first, second);
    const auto diff = m_skills->compare(m_by, "demo", *revisions, {3, false, "SKILL.md"});
    ASSAY_OK(diff);
    std::string all;
    for (const auto& change : diff->capabilities.items)
        all += change.change + " " + change.item.value + "; ";
    QCOMPARE(all, "added a.example.org; added shell:curl; changed scripts/a.sh; ");
    QCOMPARE(diff->capabilities.sizeChangeBytes, 22);
    QCOMPARE(diff->capabilities.fileCountChange, 0);
}

QTEST_GUILESS_MAIN(TestSkillComparison)
#include "tst_skill_comparison.moc"
