// SPDX-License-Identifier: Apache-2.0
#include "server/core/json.h"
#include "server/registry/skill_service.h"
#include "server/store/package_store_factory.h"
#include "tests/support/skill_sources.h"

#include <QFile>

using namespace assay;
using namespace assay::registry;
using test::kScopeA;
using test::kScopeB;

class TestSkillScopes : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void otherScopesLookMissing();
    void refusesPageTokensOfOtherListsAndScopes();
    void awkwardNamesAreNotFoundOrRefused();

private:
    Result<Published> publish(const std::string& name, const std::string& body = "Do it.", PublishOptions options = {})
    {
        return m_skills->publish(m_a, name, test::makeSkill(name, body), options);
    }

    const auth::Identity m_a = test::builderOf(kScopeA);
    const auth::Identity m_b = test::builderOf(kScopeB);
    test::FakeClock m_clock;
    std::unique_ptr<test::StoreFixture> m_store;
    store::Database* m_database = nullptr;
    std::unique_ptr<store::SkillPackageStore> m_packages;
    std::unique_ptr<SkillService> m_skills;
};

void TestSkillScopes::init()
{
    m_store = std::make_unique<test::StoreFixture>();
    m_database = &m_store->open();
    m_packages = store::makePackageStore({}, *m_database).value();
    m_skills = std::make_unique<SkillService>(*m_database, *m_packages, m_clock, PackageLimits{});
}

void TestSkillScopes::cleanup()
{
    m_skills.reset();
    m_packages.reset();
    m_store.reset();
}

void TestSkillScopes::otherScopesLookMissing()
{
    const auto mine = publish("demo")->skill;
    const auto same = [](const auto& theirs, const auto& missing) {
        return !theirs && !missing && theirs.error().code == missing.error().code &&
               theirs.error().message == missing.error().message && theirs.error().detail == missing.error().detail;
    };
    QVERIFY(same(m_skills->find(m_b, "demo"), m_skills->find(m_b, "none")));
    QVERIFY(same(m_skills->patch(m_b, "demo", {.enabled = false}, {}), m_skills->patch(m_b, "none", {}, {})));
    QVERIFY(same(m_skills->remove(m_b, "demo", "*"), m_skills->remove(m_b, "none", "*")));
    QVERIFY(same(m_skills->revisions(m_b, "demo", {}), m_skills->revisions(m_b, "none", {})));
    QVERIFY(same(m_skills->files(m_b, "demo", mine.revision), m_skills->files(m_b, "none", mine.revision)));
    QVERIFY(same(m_skills->file(m_b, "demo", "current", "SKILL.md"), m_skills->file(m_b, "none", "current", "x")));
    QVERIFY(same(m_skills->archive(m_b, "demo", "current", ArchiveKind::Zip),
                 m_skills->archive(m_b, "none", "current", ArchiveKind::Zip)));
    QVERIFY(same(m_skills->promote(m_b, "demo", mine.revision, {}), m_skills->promote(m_b, "none", "x", {})));
    QVERIFY(same(m_skills->withdraw(m_b, "demo", "current", {""}), m_skills->withdraw(m_b, "none", "current", {""})));
    QVERIFY(m_skills->list(m_b, {}, {})->items.empty());
    const Digest digest = Digest::parse(mine.digest).value();
    QCOMPARE(m_skills->bundle(kScopeB, digest).error().reason, "package_store_unavailable");
    // An archive that is in the cache for one scope is not there for another.
    ASSAY_OK(m_skills->archive(m_a, "demo", "current", ArchiveKind::Zip));
    ASSAY_FAILS(m_skills->archive(m_b, "demo", "current", ArchiveKind::Zip), ErrorCode::NotFound);
    // The same name and content in both scopes are two skills.
    const auto theirs = m_skills->publish(m_b, "demo", test::makeSkill("demo"), {});
    QVERIFY(theirs->skillCreated && theirs->skill.revision != mine.revision);
    ASSAY_FAILS(m_skills->revision(m_b, "demo", mine.revision), ErrorCode::NotFound);
}

void TestSkillScopes::refusesPageTokensOfOtherListsAndScopes()
{
    for (int i = 0; i < 3; ++i) {
        ASSAY_OK(publish("skill-" + std::to_string(i)));
        ASSAY_OK(
            m_skills->publish(m_b, "skill-" + std::to_string(i), test::makeSkill("skill-" + std::to_string(i)), {}));
        ASSAY_OK(publish("skill-0", std::to_string(i)));
    }
    const std::string token = m_skills->list(m_a, {}, {.size = 1})->nextPageToken.value();
    ASSAY_OK(m_skills->list(m_a, {}, {.size = 2, .token = token}));
    ASSAY_FAILS(m_skills->list(m_b, {}, {.token = token}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(m_skills->list(m_a, {.enabled = true}, {.token = token}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(m_skills->list(m_a, {.text = "s"}, {.token = token}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(m_skills->revisions(m_a, "skill-0", {.token = token}), ErrorCode::InvalidArgument);
    const std::string revisions = m_skills->revisions(m_a, "skill-0", {.size = 1})->nextPageToken.value();
    ASSAY_FAILS(m_skills->revisions(m_a, "skill-1", {.token = revisions}), ErrorCode::InvalidArgument);
    for (const std::string& bad : {std::string("x"), std::string("!"), token.substr(1), std::string(5000, 'A')})
        ASSAY_FAILS(m_skills->list(m_a, {}, {.token = bad}), ErrorCode::InvalidArgument);
}

void TestSkillScopes::awkwardNamesAreNotFoundOrRefused()
{
    std::vector<std::string> names{"",         ".",      "..",  "a'; DROP TABLE skills;--", std::string("a\0b", 3),
                                   "\xff\xfe", "\u202e", "CON", std::string(100'000, 'a'),  "%",
                                   "_",        "current"};
    if (!test::vectorsDirectory().isEmpty()) {
        QFile file(test::vectorsDirectory() + "/blns/blns.json");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const auto listed = parseJson(file.readAll().toStdString());
        ASSAY_OK(listed);
        for (const json::value& value : listed->as_array())
            names.emplace_back(value.as_string());
    }
    ASSAY_OK(publish("keep"));
    for (const std::string& name : names) {
        ASSAY_FAILS(m_skills->find(m_a, name), ErrorCode::NotFound);
        ASSAY_FAILS(m_skills->revision(m_a, "keep", name == "current" ? "x" : name), ErrorCode::NotFound);
        ASSAY_FAILS(m_skills->file(m_a, "keep", "current", name), ErrorCode::NotFound);
        ASSAY_FAILS(m_skills->remove(m_a, name, {}), ErrorCode::NotFound);
        const auto published = m_skills->publish(m_a, name, test::makeSkill("keep"), {});
        if (!name.empty())
            ASSAY_FAILS(published, ErrorCode::InvalidPackage);
        const auto listed = m_skills->list(m_a, {.text = name}, {});
        QVERIFY(listed || listed.error().code == ErrorCode::InvalidArgument);
    }
    QCOMPARE(m_skills->list(m_a, {}, {})->items.size(), 1);
}

QTEST_GUILESS_MAIN(TestSkillScopes)
#include "tst_skill_scopes.moc"
