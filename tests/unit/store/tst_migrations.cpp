// SPDX-License-Identifier: Apache-2.0
// A database of an earlier release is brought up to date, with what its rows did not say.
#include "server/store/migrations.h"
#include "server/store/open_connection.h"
#include "server/store/revision_table.h"
#include "server/store/schema.h"
#include "server/store/skill_table.h"
#include "tests/support/store_fixture.h"

using namespace assay;
using namespace assay::store;

class TestMigrations : public QObject
{
    Q_OBJECT

private slots:
    void olderRevisionsSayWhetherTheyRequireExecution_data();
    void olderRevisionsSayWhetherTheyRequireExecution();
};

namespace {

/// The first release's schema with one skill of one revision, whose files have this stored form.
Result<void> makeFirstRelease(const std::filesystem::path& file, const std::string& files)
{
    auto connection = openConnection(file, ConnectionUse::Write);
    if (!connection)
        return forward(connection);
    const std::string rows =
        "INSERT INTO skills(fingerprint, name, version, enabled, state, current_revision, shown_revision, shown_number,"
        " shown_digest, shown_file_count, shown_size_bytes, last_number, created_at, updated_at, visibility, labels,"
        " shown_lints, shown_ignored, description, search_text) VALUES('sc_a', 'demo', 1, 1, 'current', 'rev_1', "
        "'rev_1',"
        " 1, x'00', 1, 1, 1, 0, 0, 'private', '{}', '[]', '[]', 'd', 'demo');"
        "INSERT INTO revisions(fingerprint, skill, number, id, digest, file_count, size_bytes, created_at, publisher,"
        " note, withdrawn_reason, network, allowed_tools, lints, ignored, description, files) VALUES('sc_a', 'demo', 1,"
        " 'rev_1', x'00', 1, 1, 0, 'p', '', '', '', '', '[]', '[]', 'd', '" +
        files + "');";
    const std::string marks = "PRAGMA user_version=1; PRAGMA application_id=" + std::to_string(kApplicationId) + ";";
    for (const char* sql : {migrations().front(), rows.c_str(), marks.c_str()})
        if (auto done = (*connection)->execute(sql); !done)
            return done;
    return {};
}

} // namespace

void TestMigrations::olderRevisionsSayWhetherTheyRequireExecution_data()
{
    QTest::addColumn<QString>("files");
    QTest::addColumn<bool>("requiresExecution");
    const QString skillMd = R"(["SKILL.md","00",1,0,"text","text/markdown"])";
    QTest::newRow("prose") << '[' + skillMd + R"(,["references/scripts.md","00",1,0,"text","text/markdown"]])" << false;
    QTest::newRow("a script") << '[' + skillMd + R"(,["scripts/a.py","00",1,0,"text","text/x-python"]])" << true;
    QTest::newRow("an executable text") << '[' + skillMd + R"(,["run","00",1,1,"text","text/plain"]])" << true;
    QTest::newRow("a program") << '[' + skillMd + R"(,["bin/x","00",1,1,"asset","application/octet-stream"]])" << true;
}

void TestMigrations::olderRevisionsSayWhetherTheyRequireExecution()
{
    QFETCH(QString, files);
    QFETCH(bool, requiresExecution);
    test::StoreFixture store;
    ASSAY_OK(makeFirstRelease(store.file(), files.toStdString()));
    Database& database = store.open();
    const auto skill =
        database.read([](Connection& connection) { return SkillTable(connection).find("sc_a", "demo"); });
    ASSAY_OK(skill);
    QCOMPARE((*skill)->shown.requiresExecution, requiresExecution);
    const auto revision = database.read(
        [](Connection& connection) { return RevisionTable(connection).find("sc_a", "demo", "rev_1", WithFiles::Yes); });
    ASSAY_OK(revision);
    QCOMPARE((*revision)->requiresExecution, requiresExecution);
    QCOMPARE((*revision)->files, files.toStdString());
    const auto capabilities = database.read(
        [](Connection& connection) { return RevisionTable(connection).capabilities("sc_a", "demo", "rev_1"); });
    ASSAY_OK(capabilities);
    QCOMPARE(**capabilities, ""); // made when it is asked for
}

QTEST_GUILESS_MAIN(TestMigrations)
#include "tst_migrations.moc"
