// SPDX-License-Identifier: Apache-2.0
#include "server/registry/skill_service.h"
#include "server/store/package_store_factory.h"
#include "tests/support/skill_sources.h"

#include <set>
#include <thread>

using namespace assay;
using namespace assay::registry;
using test::kScopeA;
using test::kScopeB;

class TestSkillService : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void publishesAndReads();
    void equalContentMakesNoRevision();
    void modeOnlyChangeIsARevision();
    void createOnlyRefusesAnExistingOne();
    void ifMatchGuardsEveryChange();
    void metadataMakesNoRevision();
    void refusesMetadataOverTheLimits();
    void anInvalidPackageChangesNothing();
    void deletedNameContinuesItsHistory();
    void withdrawsAndPromotes();
    void readsStayAtTheirRevision();
    void listsInPagesWithFilters();
    void aDamagedRowDoesNotBreakAListing();
    void pinsAllNamesInOneSnapshot();
    void refusesPinsWithReasons();
    void damagedBundlesAreNeverServed();
    void publishingAgainRepairsADamagedBundle();
    void concurrentPublishesNumberWithoutGaps();

private:
    Result<Published> publish(const std::string& name, const std::string& body = "Do it.", PublishOptions options = {})
    {
        return m_skills->publish(m_a, name, test::makeSkill(name, body), options);
    }

    void damage(const char* sql)
    {
        const auto done = m_database->write([&](store::Connection& connection) { return connection.execute(sql); });
        QVERIFY(done);
    }

    const auth::Identity m_a = test::builderOf(kScopeA);
    test::FakeClock m_clock;
    std::unique_ptr<test::StoreFixture> m_store;
    store::Database* m_database = nullptr;
    std::unique_ptr<store::SkillPackageStore> m_packages;
    std::unique_ptr<SkillService> m_skills;
};

void TestSkillService::init()
{
    m_store = std::make_unique<test::StoreFixture>();
    m_database = &m_store->open();
    m_packages = store::makePackageStore({}, *m_database).value();
    m_skills = std::make_unique<SkillService>(*m_database, *m_packages, m_clock, PackageLimits{});
}

void TestSkillService::cleanup()
{
    m_skills.reset();
    m_packages.reset();
    m_store.reset();
}

void TestSkillService::publishesAndReads()
{
    const std::string image("\x89PNG\0\xff", 6);
    const auto source = [&] {
        return test::makeSource({{"SKILL.md", "---\nname: demo\ndescription: Shows\n---\nText\n"},
                                 {"assets/x.png", image},
                                 {"scripts/run.sh", "#!/bin/sh\n"}},
                                {"scripts/run.sh"});
    };
    const auto done = m_skills->publish(m_a, "demo", source(), {.note = "first"});
    ASSAY_OK(done);
    QVERIFY(done->skillCreated && done->revisionCreated);
    QCOMPARE(done->skill.number, 1);
    QCOMPARE(done->skill.fileCount, 3);
    QCOMPARE(done->skill.digest, m_skills->validate("demo", source()).digest);
    QCOMPARE(done->skill.currentRevision, done->skill.revision);

    const auto found = m_skills->find(m_a, "demo");
    ASSAY_OK(found);
    QCOMPARE(found->description, "Shows");
    QCOMPARE(found->etag, done->skill.etag);
    const auto files = m_skills->files(m_a, "demo", "current");
    ASSAY_OK(files);
    QCOMPARE(files->size(), 3);
    QCOMPARE((*files)[1].path, "assets/x.png");
    QCOMPARE((*files)[1].kind, "asset");
    QVERIFY((*files)[2].executable && !(*files)[1].executable);
    const auto content = m_skills->file(m_a, "demo", found->revision, "assets/x.png");
    ASSAY_OK(content);
    QCOMPARE(content->bytes, image);
    QCOMPARE(content->file.sha256, Digest::ofBytes(image).text());
    QCOMPARE(content->revisionDigest, found->digest);
    ASSAY_FAILS(m_skills->file(m_a, "demo", "current", "assets/y.png"), ErrorCode::NotFound);
    const auto revision = m_skills->revision(m_a, "demo", found->revision);
    ASSAY_OK(revision);
    QCOMPARE(revision->note, "first");
    QCOMPARE(revision->publisher, "tester");
    QCOMPARE(revision->state, "current");
    const auto archive = m_skills->archive(m_a, "demo", "current", ArchiveKind::TarGz);
    ASSAY_OK(archive);
    QCOMPARE(archive->digest, found->digest);
    QCOMPARE(m_skills->archive(m_a, "demo", "current", ArchiveKind::TarGz)->bytes, archive->bytes);
    QVERIFY(*m_skills->archive(m_a, "demo", "current", ArchiveKind::Zip)->bytes != *archive->bytes);
}

void TestSkillService::equalContentMakesNoRevision()
{
    const auto first = publish("demo");
    const auto again = publish("demo");
    ASSAY_OK(again);
    QVERIFY(!again->skillCreated && !again->revisionCreated);
    QCOMPARE(again->skill.etag, first->skill.etag);
    QCOMPARE(again->skill.revision, first->skill.revision);
    // Equal to an older revision, not to the current one: a revision of its own.
    ASSAY_OK(publish("demo", "Other."));
    QCOMPARE(publish("demo")->skill.number, 3);
}

void TestSkillService::modeOnlyChangeIsARevision()
{
    const std::map<std::string, std::string> files{{"SKILL.md", "---\nname: demo\ndescription: D\n---\n"},
                                                   {"run.sh", "#!/bin/sh\n"}};
    const auto plain = m_skills->publish(m_a, "demo", test::makeSource(files), {});
    const auto executable = m_skills->publish(m_a, "demo", test::makeSource(files, {"run.sh"}), {});
    ASSAY_OK(executable);
    QVERIFY(executable->revisionCreated);
    QVERIFY(executable->skill.digest != plain->skill.digest);
}

void TestSkillService::createOnlyRefusesAnExistingOne()
{
    const PublishOptions createOnly{.intent = PublishOptions::Intent::CreateOnly};
    ASSAY_OK(publish("demo", "a", createOnly));
    ASSAY_FAILS(publish("demo", "b", createOnly), ErrorCode::Conflict);
    QCOMPARE(m_skills->find(m_a, "demo")->number, 1);
}

void TestSkillService::ifMatchGuardsEveryChange()
{
    const auto first = publish("demo", "a")->skill;
    ASSAY_FAILS(publish("new", "a", {.ifMatch = "*"}), ErrorCode::PreconditionFailed);
    const auto second = publish("demo", "b", {.ifMatch = first.etag});
    ASSAY_OK(second);
    ASSAY_FAILS(publish("demo", "c", {.ifMatch = first.etag}), ErrorCode::PreconditionFailed);
    ASSAY_FAILS(m_skills->patch(m_a, "demo", {.enabled = false}, first.etag), ErrorCode::PreconditionFailed);
    ASSAY_FAILS(m_skills->promote(m_a, "demo", first.revision, first.etag), ErrorCode::PreconditionFailed);
    ASSAY_FAILS(m_skills->withdraw(m_a, "demo", first.revision, {"bad"}, first.etag), ErrorCode::PreconditionFailed);
    ASSAY_FAILS(m_skills->remove(m_a, "demo", first.etag), ErrorCode::PreconditionFailed);
    ASSAY_OK(m_skills->remove(m_a, "demo", second->skill.etag));
    QVERIFY(publish("demo", "b")->skill.etag != second->skill.etag);
}

void TestSkillService::metadataMakesNoRevision()
{
    const auto before = publish("demo")->skill;
    m_clock.advance(std::chrono::milliseconds(5));
    const auto after = m_skills->patch(
        m_a, "demo",
        {.enabled = false, .visibility = "public", .labels = std::map<std::string, std::string>{{"team", "a\"b"}}}, {});
    ASSAY_OK(after);
    QCOMPARE(after->revision, before.revision);
    QVERIFY(after->etag != before.etag);
    QVERIFY(!after->enabled);
    QCOMPARE(after->labels.at("team"), "a\"b");
    QCOMPARE(m_skills->find(m_a, "demo")->updatedAt, m_clock.now());
    // A patch that changes nothing leaves the ETag.
    QCOMPARE(m_skills->patch(m_a, "demo", {.enabled = false}, {})->etag, after->etag);
    // A publish keeps what it does not mention.
    const auto next = publish("demo", "Other.");
    QVERIFY(!next->skill.enabled);
    QCOMPARE(next->skill.labels.size(), 1);
}

void TestSkillService::refusesMetadataOverTheLimits()
{
    ASSAY_OK(publish("demo"));
    const auto patch = [&](contract::PatchSkill change) { return m_skills->patch(m_a, "demo", change, {}); };
    ASSAY_FAILS(patch({.visibility = "secret"}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(patch({.labels = {{{"", "x"}}}}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(patch({.labels = {{{"a", std::string(1025, 'x')}}}}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(patch({.labels = {{{"a", "\xff"}}}}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(publish("demo", "b", {.note = std::string(4001, 'x')}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(publish("demo", "b", {.visibility = "x"}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(m_skills->withdraw(m_a, "demo", "current", {std::string(2001, 'x')}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(m_skills->list(m_a, {.text = std::string(257, 'x')}, {}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(m_skills->list(m_a, {.state = "x"}, {}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(m_skills->list(m_a, {}, {.size = 0}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(m_skills->list(m_a, {}, {.size = 201}), ErrorCode::InvalidArgument);
    QCOMPARE(m_skills->find(m_a, "demo")->number, 1);
}

void TestSkillService::anInvalidPackageChangesNothing()
{
    const auto refused = m_skills->publish(m_a, "demo", test::makeSource({{"README.md", "x"}}), {});
    ASSAY_FAILS(refused, ErrorCode::InvalidPackage);
    QCOMPARE(refused.error().problems.at(0).code, "missing_skill_md");
    ASSAY_FAILS(m_skills->find(m_a, "demo"), ErrorCode::NotFound);
    const auto verdict = m_skills->validate("demo", test::makeSource({{"README.md", "x"}}));
    QVERIFY(!verdict.valid && verdict.digest.empty());
    QCOMPARE(verdict.errors.at(0).code, "missing_skill_md");
    ASSAY_FAILS(m_skills->publish(m_a, "other", test::makeSkill("demo"), {}), ErrorCode::InvalidPackage);
}

void TestSkillService::deletedNameContinuesItsHistory()
{
    const auto first = publish("demo", "a");
    ASSAY_OK(m_skills->patch(m_a, "demo", {.enabled = false}, {}));
    ASSAY_OK(m_skills->remove(m_a, "demo", {}));
    ASSAY_FAILS(m_skills->find(m_a, "demo"), ErrorCode::NotFound);
    ASSAY_FAILS(m_skills->remove(m_a, "demo", {}), ErrorCode::NotFound);
    ASSAY_FAILS(m_skills->patch(m_a, "demo", {}, {}), ErrorCode::NotFound);
    ASSAY_FAILS(m_skills->revisions(m_a, "demo", {}), ErrorCode::NotFound);
    ASSAY_FAILS(m_skills->files(m_a, "demo", first->skill.revision), ErrorCode::NotFound);
    QVERIFY(m_skills->list(m_a, {}, {})->items.empty());
    // What a manifest pinned stays.
    ASSAY_OK(m_skills->bundle(kScopeA, Digest::parse(first->skill.digest).value()));

    const auto second = publish("demo", "a", {.intent = PublishOptions::Intent::CreateOnly});
    ASSAY_OK(second);
    QVERIFY(second->skillCreated && second->revisionCreated);
    QCOMPARE(second->skill.number, 2);
    QVERIFY(second->skill.enabled);
    QCOMPARE(m_skills->revisions(m_a, "demo", {})->items.size(), 2);
    QCOMPARE(m_skills->revision(m_a, "demo", first->skill.revision)->state, "superseded");
}

void TestSkillService::withdrawsAndPromotes()
{
    const auto first = publish("demo", "a")->skill;
    const auto second = publish("demo", "b")->skill;
    const auto withdrawn = m_skills->withdraw(m_a, "demo", "current", {"leaks"});
    ASSAY_OK(withdrawn);
    QCOMPARE(withdrawn->id, second.revision);
    QCOMPARE(withdrawn->state, "withdrawn");
    const auto none = m_skills->find(m_a, "demo");
    QVERIFY(none->currentRevision.empty());
    QCOMPARE(none->revision, second.revision);
    QCOMPARE(m_skills->list(m_a, {.state = "withdrawn"}, {})->items.size(), 1);
    ASSAY_FAILS(m_skills->revision(m_a, "demo", "current"), ErrorCode::NotFound);
    ASSAY_FAILS(m_skills->promote(m_a, "demo", second.revision, {}), ErrorCode::Conflict);
    ASSAY_FAILS(m_skills->promote(m_a, "demo", "rev_00000000000000000000000000", {}), ErrorCode::NotFound);
    // Withdrawing again keeps the first reason; its files stay readable.
    QCOMPARE(m_skills->withdraw(m_a, "demo", second.revision, {"other"})->withdrawnReason, "leaks");
    ASSAY_OK(m_skills->files(m_a, "demo", second.revision));

    const auto back = m_skills->promote(m_a, "demo", first.revision, none->etag);
    ASSAY_OK(back);
    QCOMPARE(back->digest, first.digest);
    QCOMPARE(back->number, 1);
    QCOMPARE(m_skills->find(m_a, "demo")->digest, first.digest);
    QCOMPARE(m_skills->promote(m_a, "demo", first.revision, {})->etag, back->etag);
    QCOMPARE(publish("demo", "c")->skill.number, 3);
    // Another skill's revision is not this one's.
    const auto other = publish("other", "a")->skill;
    ASSAY_FAILS(m_skills->promote(m_a, "demo", other.revision, {}), ErrorCode::NotFound);
}

void TestSkillService::readsStayAtTheirRevision()
{
    const auto first = publish("demo", "a")->skill;
    ASSAY_OK(publish("demo", "b"));
    const auto file = m_skills->file(m_a, "demo", first.revision, "SKILL.md");
    ASSAY_OK(file);
    QVERIFY(file->bytes.ends_with("\na\n"));
    const auto page = m_skills->revisions(m_a, "demo", {.size = 1});
    QCOMPARE(page->items.at(0).number, 2);
    const auto next = m_skills->revisions(m_a, "demo", {.size = 1, .token = *page->nextPageToken});
    QCOMPARE(next->items.at(0).id, first.revision);
    QCOMPARE(next->items.at(0).state, "superseded");
    QVERIFY(!next->nextPageToken);
}

void TestSkillService::listsInPagesWithFilters()
{
    for (int i = 0; i < 25; ++i)
        ASSAY_OK(publish("skill-" + std::to_string(i)));
    ASSAY_OK(m_skills->patch(m_a, "skill-3", {.enabled = false}, {}));
    ASSAY_OK(m_skills->remove(m_a, "skill-4", {}));
    std::set<std::string> names;
    contract::PageRequest page{.size = 7};
    for (int i = 0; i < 4; ++i) {
        const auto got = m_skills->list(m_a, {}, page);
        ASSAY_OK(got);
        for (const auto& skill : got->items)
            names.insert(skill.name);
        QCOMPARE(got->nextPageToken.has_value(), i < 3);
        page.token = got->nextPageToken.value_or("");
    }
    QCOMPARE(names.size(), 24);
    QCOMPARE(m_skills->list(m_a, {.enabled = false}, {})->items.size(), 1);
    QCOMPARE(m_skills->list(m_a, {.text = "SKILL-1"}, {})->items.size(), 11);
    QCOMPARE(m_skills->list(m_a, {.text = "about skill-24"}, {})->items.size(), 1);
    QCOMPARE(m_skills->list(m_a, {.state = "proposed"}, {})->items.size(), 0);
}

void TestSkillService::aDamagedRowDoesNotBreakAListing()
{
    for (const char* name : {"aa", "bb", "cc", "dd", "ee"})
        ASSAY_OK(publish(name));
    damage("UPDATE skills SET labels = '{', description = CAST(x'ff' AS TEXT) WHERE name = 'aa';"
           "UPDATE skills SET shown_lints = 'null', shown_ignored = '[' WHERE name = 'bb';"
           "UPDATE skills SET shown_digest = x'00' WHERE name = 'cc';"
           "UPDATE revisions SET digest = x'00', files = '[1]' WHERE skill = 'cc';"
           "DELETE FROM revisions WHERE skill = 'dd'");
    const auto page = m_skills->list(m_a, {}, {});
    ASSAY_OK(page);
    QCOMPARE(page->items.size(), 5);
    QCOMPARE(page->items[0].description, "");
    QCOMPARE(page->items[1].lints.at(0).code, "stored_row_damaged");
    QCOMPARE(page->items[2].digest, "");
    QCOMPARE(page->items[3].name, "dd");
    QVERIFY(page->items[4].lints.empty());
    ASSAY_FAILS(m_skills->files(m_a, "cc", "current"), ErrorCode::Internal);
    QVERIFY(!m_skills->pin(kScopeA, {"cc"}));
}

void TestSkillService::pinsAllNamesInOneSnapshot()
{
    ASSAY_OK(publish("left", "0"));
    ASSAY_OK(publish("right", "0"));
    std::atomic<bool> stop = false;
    std::thread publisher([&] {
        for (int i = 1; !stop; ++i) {
            (void)publish("left", std::to_string(i));
            (void)publish("right", std::to_string(i));
        }
    });
    bool torn = false;
    for (int i = 0; i < 300; ++i) {
        const auto pins = m_skills->pin(kScopeA, {"right", "left", "right"});
        torn = torn || !pins || (*pins)[0].revision != (*pins)[2].revision || (*pins)[1].number < (*pins)[0].number ||
               (*pins)[1].number > (*pins)[0].number + 1;
    }
    stop = true;
    publisher.join();
    QVERIFY(!torn);
    const auto pins = m_skills->pin(kScopeA, {"left"});
    QVERIFY(pins->at(0).number > 1);
    QCOMPARE(pins->at(0).files.at(0).path, "SKILL.md");
    QCOMPARE(Digest::ofBytes(m_skills->bundle(kScopeA, pins->at(0).digest)->bytes()), pins->at(0).digest);
}

void TestSkillService::refusesPinsWithReasons()
{
    ASSAY_OK(publish("good"));
    ASSAY_OK(publish("off", "a", {.enabled = false}));
    ASSAY_OK(publish("gone"));
    ASSAY_OK(m_skills->withdraw(m_a, "gone", "current", {"x"}));
    ASSAY_OK(publish("deleted"));
    ASSAY_OK(m_skills->remove(m_a, "deleted", {}));
    const std::pair<const char*, const char*> cases[] = {{"off", "skill_disabled"},
                                                         {"gone", "revision_withdrawn"},
                                                         {"deleted", "skill_not_found"},
                                                         {"none", "skill_not_found"}};
    for (const auto& [name, reason] : cases) {
        const auto refused = m_skills->pin(kScopeA, {"good", name});
        ASSAY_FAILS(refused, ErrorCode::Refused);
        QCOMPARE(refused.error().reason, reason);
        QVERIFY(refused.error().message.contains(name));
    }
    QCOMPARE(m_skills->pin(kScopeB, {"good"}).error().reason, "skill_not_found");
    ASSAY_OK(m_skills->pin(kScopeA, {"good"}));
}

void TestSkillService::damagedBundlesAreNeverServed()
{
    const auto demo = publish("demo")->skill;
    const Digest digest = Digest::parse(demo.digest).value();
    damage("UPDATE bundles SET bytes = CAST(bytes || x'00' AS BLOB)");
    ASSAY_FAILS(m_skills->file(m_a, "demo", "current", "SKILL.md"), ErrorCode::Internal);
    ASSAY_FAILS(m_skills->archive(m_a, "demo", "current", ArchiveKind::Zip), ErrorCode::Internal);
    QCOMPARE(m_skills->bundle(kScopeA, digest).error().reason, "digest_mismatch");
    damage("DELETE FROM bundles");
    ASSAY_FAILS(m_skills->file(m_a, "demo", "current", "SKILL.md"), ErrorCode::Internal);
    QCOMPARE(m_skills->bundle(kScopeA, digest).error().reason, "package_store_unavailable");
}

void TestSkillService::publishingAgainRepairsADamagedBundle()
{
    ASSAY_OK(publish("demo"));
    damage("UPDATE bundles SET bytes = x'00'");
    const auto again = publish("demo");
    QVERIFY(!again->revisionCreated);
    ASSAY_OK(m_skills->file(m_a, "demo", "current", "SKILL.md"));
}

void TestSkillService::concurrentPublishesNumberWithoutGaps()
{
    std::vector<std::thread> threads;
    std::atomic<int> created = 0;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&, i] {
            for (int j = 0; j < 20; ++j) {
                const auto done = publish("demo", std::to_string(i) + "/" + std::to_string(j));
                created += done && done->skillCreated;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    QCOMPARE(created.load(), 1);
    const auto page = m_skills->revisions(m_a, "demo", {.size = 200});
    QCOMPARE(page->items.size(), 160);
    for (std::size_t i = 0; i < page->items.size(); ++i)
        QCOMPARE(page->items[i].number, 160 - i);
    QCOMPARE(m_skills->find(m_a, "demo")->revision, page->items.front().id);
}

QTEST_GUILESS_MAIN(TestSkillService)
#include "tst_skill_service.moc"
