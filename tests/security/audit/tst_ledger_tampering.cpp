// SPDX-License-Identifier: Apache-2.0
// Edits the database file by hand, as somebody with the server's disk would, and looks whether the ledger tells.
#include "server/audit/anchorer.h"
#include "server/audit/export_check.h"
#include "server/audit/reader.h"
#include "server/audit/verifier.h"
#include "server/core/base64.h"
#include "tests/support/audit_records.h"

#include <QFile>
#include <sqlite3.h>
#include <sstream>
#include <sys/stat.h>

using namespace assay;
using namespace assay::audit;
using namespace std::chrono_literals;
using test::kScopeA;
using test::kScopeB;

class TestLedgerTampering : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void anUntouchedLedgerIsValid();
    void theFirstBadRowIsNamed_data();
    void theFirstBadRowIsNamed();
    void aRewrittenChainIsFoundByItsAnchor();
    void aRemovedChainIsFoundByTheChainOfAnchors();
    void whatIsAfterTheNewestAnchorMayGoUnseen();
    void anAnchorOfAnotherKeyIsForged();
    void anExportIsJudgedWithoutTheServer();
    void aChangedExportIsNotValid();
    void aFilteredExportIsJudgedRowByRow();
    void brokenLinesAreRefused();
    void theKeyIsPrivateAndMadeOnce();
    void rowsWithoutAnAnchorGetOneInTime();
    void aForgedTailIsFoundByWhatIsRememberedOutside_data();
    void aForgedTailIsFoundByWhatIsRememberedOutside();
    void aChainWithoutItsSignedRowIsNotSignedAgain();
    void theRememberedHeadsSurviveARestart();
    void headsThatAreBehindTheDatabaseAreNoFault();
    void aRowThatWaitsTooLongForAnAnchorIsMissed();
    void aRehashedExportIsNoProof();
    void anchoringEndsAtTheRowThatWasTheNewest();
    void theLastRefusalsAreSignedAtACleanStop();

private:
    void fill();
    void edit(const std::string& sql);
    /// The rows of A from `seq` on, with another actor and all hashes made anew, as SQL.
    std::string rehashed(std::int64_t seq);
    contract::AuditVerdict verify(const char* scope) { return m_verifier->chain(scope).value(); }
    static std::string found(const contract::AuditVerdict& verdict)
    {
        if (!verdict.firstBad)
            return verdict.valid ? "valid" : "not valid";
        return std::to_string(verdict.firstBad->seq) + " " + verdict.firstBad->reason;
    }
    std::string exported(const contract::AuditFilter& filter = {});
    Result<ExportVerdict> judge(const std::string& lines) const
    {
        std::istringstream in(lines);
        return checkExport(in, m_key->publicKey());
    }

    test::FakeClock m_clock;
    std::unique_ptr<test::StoreFixture> m_store;
    store::Database* m_database = nullptr;
    std::unique_ptr<Ledger> m_ledger;
    std::optional<SigningKey> m_key;
    std::unique_ptr<Heads> m_heads;
    std::unique_ptr<Anchorer> m_anchorer;
    std::unique_ptr<Verifier> m_verifier;
};

void TestLedgerTampering::init()
{
    m_store = std::make_unique<test::StoreFixture>();
    m_database = &m_store->open();
    m_ledger = std::make_unique<Ledger>(*m_database, m_clock);
    m_key = SigningKey::open(m_store->path("ledger.key")).value();
    m_heads = Heads::open(m_store->path("ledger.heads")).value();
    m_anchorer =
        std::make_unique<Anchorer>(*m_database, m_clock, *m_key, nullptr, Anchorer::Options{.heads = m_heads.get()});
    m_verifier = std::make_unique<Verifier>(*m_database, m_key->publicKey());
    fill();
}

void TestLedgerTampering::cleanup()
{
    m_verifier.reset();
    m_anchorer.reset();
    m_heads.reset();
    m_ledger.reset();
    m_store.reset();
}

// Ten rows of A, the sixth and the last one anchored, and three of B.
void TestLedgerTampering::fill()
{
    for (int i = 1; i <= 10; ++i) {
        m_clock.advance(1ms);
        QVERIFY(m_ledger->record(test::published(kScopeA)));
        if (i <= 3)
            QVERIFY(m_ledger->record(test::published(kScopeB)));
        if (i == 6 || i == 10)
            QVERIFY(m_anchorer->anchorNow());
    }
}

void TestLedgerTampering::edit(const std::string& sql)
{
    sqlite3* handle = nullptr;
    QCOMPARE(sqlite3_open(m_store->file().c_str(), &handle), SQLITE_OK);
    char* message = nullptr;
    const std::string all =
        "DROP TRIGGER IF EXISTS ledger_never_changes; DROP TRIGGER IF EXISTS ledger_never_shrinks;" + sql;
    const int status = sqlite3_exec(handle, all.c_str(), nullptr, nullptr, &message);
    QVERIFY2(status == SQLITE_OK, message ? message : "");
    sqlite3_close(handle);
}

void TestLedgerTampering::anUntouchedLedgerIsValid()
{
    const auto one = verify(kScopeA);
    QCOMPARE(found(one), "valid");
    QCOMPARE(one.checked, 10U);
    QCOMPARE(one.anchors, 2U);
    const auto all = m_verifier->all();
    ASSAY_OK(all);
    QCOMPARE(found(*all), "valid");
    QCOMPARE(all->checked, 13U);
    QCOMPARE(all->anchors, 3U);
    QCOMPARE(found(verify("sc_cccccccccccccccccccccccccccccccc")), "valid");
}

void TestLedgerTampering::theFirstBadRowIsNamed_data()
{
    QTest::addColumn<QByteArray>("sql");
    QTest::addColumn<QByteArray>("expected");
    const QByteArray a = QByteArray("fingerprint = '") + kScopeA + "'";
    const auto row = [&](const char* name, const QByteArray& sql, const char* expected) {
        QTest::newRow(name) << sql << QByteArray(expected);
    };
    row("an edit", "UPDATE ledger SET decision = 'refused' WHERE seq = 4 AND " + a, "4 changed");
    row("an edit of the last row", "UPDATE ledger SET actor = 'eve' WHERE seq = 10 AND " + a, "10 changed");
    row("an edit of a time", "UPDATE ledger SET at = at + 1 WHERE seq = 2 AND " + a, "2 changed");
    row("an emptied hash", "UPDATE ledger SET hash = x'' WHERE seq = 3 AND " + a, "3 changed");
    row("a deletion", "DELETE FROM ledger WHERE seq = 5 AND " + a, "5 missing");
    row("a deletion of the first", "DELETE FROM ledger WHERE seq = 1 AND " + a, "1 missing");
    row("a deletion with renumbering",
        "DELETE FROM ledger WHERE seq = 9 AND " + a + ";UPDATE ledger SET seq = 9 WHERE seq = 10 AND " + a,
        "9 changed");
    row("a torn tail", "DELETE FROM ledger WHERE seq > 7 AND " + a, "8 missing");
    row("a whole chain", "DELETE FROM ledger WHERE " + a, "1 missing");
    row("a reordering",
        "UPDATE ledger SET seq = 100 WHERE seq = 2 AND " + a + ";UPDATE ledger SET seq = 2 WHERE seq = 3 AND " + a +
            ";UPDATE ledger SET seq = 3 WHERE seq = 100 AND " + a,
        "2 changed");
    row("an insertion",
        "UPDATE ledger SET seq = 11 WHERE seq = 10 AND " + a +
            ";INSERT INTO ledger SELECT 1000, fingerprint, 10, at, actor, actor_type, auth_source, resource_type,"
            " resource, operation, decision, run, reservation, occurrences, surface, cwd, reason, exit_code,"
            " termination, base_digest, egress_mode, egress_total_bytes, wall_ms, workspace_kib, previous, hash"
            " FROM ledger WHERE seq = 9 AND " +
            a,
        "10 changed");
    row("another scope's row",
        QByteArray("UPDATE ledger SET fingerprint = '") + kScopeA + "', seq = 11 WHERE seq = 1 AND fingerprint = '" +
            kScopeB + "'",
        "11 changed");
    row("an edited anchor", "UPDATE ledger_anchors SET row_hash = zeroblob(32) WHERE seq = 6 AND " + a,
        "6 anchor_forged");
    row("a moved anchor", "UPDATE ledger_anchors SET seq = 5 WHERE seq = 6 AND " + a, "5 anchor_forged");
}

void TestLedgerTampering::theFirstBadRowIsNamed()
{
    QFETCH(QByteArray, sql);
    QFETCH(QByteArray, expected);
    edit(sql.toStdString());
    QCOMPARE(found(verify(kScopeA)), expected.toStdString());
    const auto all = m_verifier->all();
    ASSAY_OK(all);
    QCOMPARE(found(*all), expected.toStdString());
    QCOMPARE(all->firstBad->scopeFingerprint, kScopeA);
}

std::string TestLedgerTampering::rehashed(std::int64_t seq)
{
    auto rows = m_database->read([](store::Connection& c) { return LedgerTable(c).after(kScopeA, 0, 100); }).value();
    std::string sql;
    Digest previous = genesisOf(kScopeA);
    for (Row& row : rows) {
        row.actor = row.seq == seq ? "eve" : row.actor;
        row.previous = previous;
        row.hash = previous = hashOf(row);
        sql += "UPDATE ledger SET actor = '" + row.actor + "', previous = x'" + row.previous.hex() + "', hash = x'" +
               row.hash.hex() + "' WHERE fingerprint = '" + kScopeA + "' AND seq = " + std::to_string(row.seq) + ";";
    }
    return sql;
}

// Somebody who knows the format makes all hashes anew after the edit: only the signature cannot be made.
void TestLedgerTampering::aRewrittenChainIsFoundByItsAnchor()
{
    edit(rehashed(3));
    QCOMPARE(found(verify(kScopeA)), "6 anchor_mismatch");
}

void TestLedgerTampering::aRemovedChainIsFoundByTheChainOfAnchors()
{
    const std::string b = std::string("fingerprint = '") + kScopeB + "'";
    edit("DELETE FROM ledger WHERE " + b + "; DELETE FROM ledger_anchors WHERE " + b);
    QCOMPARE(found(verify(kScopeB)), "valid"); // by itself it looks as if nothing ever happened
    const auto all = m_verifier->all();
    ASSAY_OK(all);
    QVERIFY(all->firstBad);
    QCOMPARE(all->firstBad->reason, "anchor_missing");
}

// What docs/ledger.md says cannot be detected from the database alone.
void TestLedgerTampering::whatIsAfterTheNewestAnchorMayGoUnseen()
{
    QVERIFY(m_ledger->record(test::published(kScopeA)));
    edit(std::string("DELETE FROM ledger WHERE seq = 11 AND fingerprint = '") + kScopeA + "'");
    QCOMPARE(found(verify(kScopeA)), "valid");
}

void TestLedgerTampering::anAnchorOfAnotherKeyIsForged()
{
    const auto other = SigningKey::open(m_store->path("other.key")).value();
    Verifier verifier(*m_database, other.publicKey());
    QCOMPARE(found(verifier.chain(kScopeA).value()), "6 anchor_forged");
}

std::string TestLedgerTampering::exported(const contract::AuditFilter& filter)
{
    Reader reader(*m_database, m_key->publicKey());
    std::string out;
    std::string token;
    do {
        const auto page = reader.exportPage(kScopeA, filter, token);
        if (!page)
            return {};
        out += page->lines;
        token = page->nextPageToken.value_or("");
    } while (!token.empty());
    return out;
}

void TestLedgerTampering::anExportIsJudgedWithoutTheServer()
{
    // Of several pages.
    ASSAY_OK(m_database->write([&](store::Connection& connection) -> Result<void> {
        for (std::uint32_t i = 0; i < Reader::kExportRows; ++i)
            if (auto added = m_ledger->append(connection, test::command(kScopeA, Decision::Executed)); !added)
                return added;
        return {};
    }));
    const auto verdict = judge(exported());
    ASSAY_OK(verdict);
    QCOMPARE(found(verdict->verdict), "valid");
    QVERIFY(verdict->complete);
    QCOMPARE(verdict->verdict.checked, 10 + Reader::kExportRows);
    QCOMPARE(verdict->anchoredSeq, 10);
    QCOMPARE(verdict->lastSeq, 10 + Reader::kExportRows);
    QVERIFY(!exported().contains(kScopeB));
}

void TestLedgerTampering::aChangedExportIsNotValid()
{
    const std::string whole = exported();
    const auto changed = [&](const std::string& from, const std::string& to) {
        std::string out = whole;
        const auto at = out.find(from);
        return at == std::string::npos ? out : out.replace(at, from.size(), to);
    };
    QCOMPARE(found(judge(whole)->verdict), "valid");
    QCOMPARE(found(judge(changed("\"allowed\"", "\"refused\""))->verdict), "1 changed");
    QCOMPARE(found(judge(changed("\"demo\"", "\"dem0\""))->verdict), "1 changed");
    const auto second = whole.find("\"seq\":2,");
    const auto begin = whole.rfind('\n', second) + 1;
    std::string shorter = whole;
    shorter.erase(begin, whole.find('\n', second) + 1 - begin);
    QCOMPARE(found(judge(shorter)->verdict), "2 missing");
    const auto wrong = SigningKey::open(m_store->path("other.key")).value();
    std::istringstream in(whole);
    QCOMPARE(found(checkExport(in, wrong.publicKey())->verdict), "6 anchor_forged");
}

void TestLedgerTampering::aFilteredExportIsJudgedRowByRow()
{
    auto bob = test::published(kScopeA);
    bob.actor = "bob";
    QVERIFY(m_ledger->record(bob));
    const std::string lines = exported({.actor = "bob"});
    auto verdict = judge(lines);
    ASSAY_OK(verdict);
    QVERIFY(!verdict->complete);
    QCOMPARE(verdict->verdict.checked, 1U);
    std::string changed = lines;
    changed.replace(changed.find("\"bob\""), 5, "\"eve\"");
    QCOMPARE(found(judge(changed)->verdict), "11 changed");
}

void TestLedgerTampering::brokenLinesAreRefused()
{
    for (const std::string& text : {std::string(), std::string("{}\n"), std::string("not json\n"),
                                    std::string(20'000, 'x'), exported() + "{\"seq\": 1}\n", exported() + "[]\n"})
        ASSAY_FAILS(judge(text), ErrorCode::InvalidArgument);
}

void TestLedgerTampering::theKeyIsPrivateAndMadeOnce()
{
    struct stat status{};
    const auto file = m_store->path("ledger.key");
    QCOMPARE(::stat(file.c_str(), &status), 0);
    QCOMPARE(status.st_mode & 07777, 0600U);
    QCOMPARE(SigningKey::open(file)->publicKey(), m_key->publicKey());
    QVERIFY(isSignedBy(m_key->publicKey(), "message", m_key->sign("message")));
    QVERIFY(!isSignedBy(m_key->publicKey(), "massage", m_key->sign("message")));
    QCOMPARE(::chmod(file.c_str(), 0644), 0);
    ASSAY_FAILS(SigningKey::open(file), ErrorCode::Unavailable);
}

void TestLedgerTampering::rowsWithoutAnAnchorGetOneInTime()
{
    m_anchorer.reset();
    ASSAY_OK(m_ledger->record(test::published(kScopeA)));
    Anchorer soon(*m_database, m_clock, *m_key, nullptr, {.rows = 1, .look = 5ms});
    const auto newest = [&] {
        return m_database->read([](store::Connection& c) { return AnchorTable(c).newestOf(kScopeA); }).value()->seq;
    };
    for (int i = 0; i < 1000 && newest() < 11; ++i)
        std::this_thread::sleep_for(5ms);
    QCOMPARE(newest(), 11);
    QCOMPARE(found(m_verifier->all().value()), "valid");
}

void TestLedgerTampering::aForgedTailIsFoundByWhatIsRememberedOutside_data()
{
    QTest::addColumn<bool>("isRewritten");
    QTest::addColumn<QByteArray>("sql");
    QTest::addColumn<QByteArray>("expected");
    const QByteArray a = QByteArray("fingerprint = '") + kScopeA + "'";
    const QByteArray newest = "DELETE FROM ledger_anchors WHERE seq = 10 AND " + a + ";";
    QTest::newRow("rewritten") << true << newest << QByteArray("10 rewritten");
    QTest::newRow("only the anchor") << false << newest << QByteArray("10 anchor_missing");
    QTest::newRow("cut") << false << newest + "DELETE FROM ledger WHERE seq > 6 AND " + a << QByteArray("7 missing");
    QTest::newRow("all") << false << QByteArray("DELETE FROM ledger_anchors; DELETE FROM ledger")
                         << QByteArray("1 missing");
}

// Whoever edits the database takes out the newest anchors too: in the database nothing is wrong then.
void TestLedgerTampering::aForgedTailIsFoundByWhatIsRememberedOutside()
{
    QFETCH(bool, isRewritten);
    QFETCH(QByteArray, sql);
    QFETCH(QByteArray, expected);
    edit((isRewritten ? rehashed(8) : std::string()) + sql.toStdString());
    Verifier blind(*m_database, m_key->publicKey());
    QCOMPARE(found(blind.all().value()), "valid");
    m_verifier = std::make_unique<Verifier>(*m_database, m_key->publicKey(), Verifier::Options{.heads = m_heads.get()});
    QCOMPARE(found(verify(kScopeA)), expected.toStdString());
    QCOMPARE(found(m_verifier->all().value()), expected.toStdString());
}

void TestLedgerTampering::aChainWithoutItsSignedRowIsNotSignedAgain()
{
    edit(rehashed(8));
    QVERIFY(m_ledger->record(test::published(kScopeA)));
    QVERIFY(m_ledger->record(test::published(kScopeB)));
    QVERIFY(m_heads->doubts().empty());
    ASSAY_FAILS(m_anchorer->anchorNow(), ErrorCode::Internal);
    QVERIFY(m_heads->doubts().contains(kScopeA));
    const auto newest = [&](const char* scope) {
        return m_database->read([&](store::Connection& c) { return AnchorTable(c).newestOf(scope); }).value()->seq;
    };
    QCOMPARE(newest(kScopeA), 10);
    QCOMPARE(newest(kScopeB), 4); // the others are signed all the same
    // With the newest anchor gone, nothing is signed.
    edit("DELETE FROM ledger_anchors WHERE number = (SELECT max(number) FROM ledger_anchors)");
    QVERIFY(m_ledger->record(test::published(kScopeB)));
    ASSAY_FAILS(m_anchorer->anchorNow(), ErrorCode::Internal);
    QCOMPARE(newest(kScopeB), 3);
}

void TestLedgerTampering::theRememberedHeadsSurviveARestart()
{
    const auto file = m_store->path("ledger.heads");
    struct stat status{};
    QCOMPARE(::stat(file.c_str(), &status), 0);
    QCOMPARE(status.st_mode & 07777, 0600U);
    const auto again = Heads::open(file).value()->known();
    QCOMPARE(again.number, 3);
    QCOMPARE(again.link, m_heads->known().link);
    QCOMPARE(again.chains.at(kScopeA).seq, 10);
    QCOMPARE(again.chains.at(kScopeB).seq, 3);
    QFile broken(QString::fromStdString(file.string()));
    QVERIFY(broken.open(QIODevice::WriteOnly) && broken.write("assay-ledger-heads-v1\n3 x\n") > 0);
    broken.close();
    ASSAY_FAILS(Heads::open(file), ErrorCode::Unavailable);
}

// What a server leaves that was killed after the commit of anchors.
void TestLedgerTampering::headsThatAreBehindTheDatabaseAreNoFault()
{
    const auto file = m_store->path("ledger.heads");
    const auto old = m_store->path("old.heads");
    std::filesystem::copy_file(file, old);
    QVERIFY(m_ledger->record(test::published(kScopeA)));
    QCOMPARE(m_anchorer->anchorNow().value(), 1U);
    const auto behind = Heads::open(old).value();
    Verifier verifier(*m_database, m_key->publicKey(), {.heads = behind.get()});
    QCOMPARE(found(verifier.all().value()), "valid");
    Anchorer next(*m_database, m_clock, *m_key, nullptr, {.heads = behind.get()});
    QVERIFY(m_ledger->record(test::published(kScopeA)));
    QCOMPARE(next.anchorNow().value(), 1U);
    QCOMPARE(behind->known().chains.at(kScopeA).seq, 12);
}

void TestLedgerTampering::aRowThatWaitsTooLongForAnAnchorIsMissed()
{
    QVERIFY(m_ledger->record(test::published(kScopeA)));
    m_clock.advance(10min);
    Verifier verifier(*m_database, m_key->publicKey(), {.clock = &m_clock});
    QCOMPARE(found(verifier.chain(kScopeA).value()), "valid"); // a killed server may have left it
    m_clock.advance(10min);
    QCOMPARE(found(verifier.chain(kScopeA).value()), "11 anchor_missing");
    QVERIFY(m_anchorer->anchorNow());
    QCOMPARE(found(verifier.chain(kScopeA).value()), "valid");
}

// Each line's hash can be made anew by anybody; what is missing then is a signature.
void TestLedgerTampering::aRehashedExportIsNoProof()
{
    const std::string whole = exported();
    QVERIFY(judge(whole)->isProof());
    edit(rehashed(1));
    std::string forged;
    std::istringstream lines(exported());
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("{\"anchor\""))
            forged += line + "\n";
    const auto bare = judge(forged);
    ASSAY_OK(bare);
    QCOMPARE(found(bare->verdict), "valid");
    QCOMPARE(bare->anchoredSeq, 0);
    QVERIFY(!bare->isProof());
    std::string partial = whole;
    const std::string flag = "\"complete\":true";
    partial.replace(partial.find(flag), flag.size(), "\"complete\":false");
    QVERIFY(!judge(partial)->isProof());
    // An empty line hides what is after it.
    std::string stopped = whole;
    stopped.insert(stopped.find('\n', stopped.find("\"seq\":6,")) + 1, "\n");
    ASSAY_FAILS(judge(stopped), ErrorCode::InvalidArgument);
    ASSAY_FAILS(judge(whole + "\n"), ErrorCode::InvalidArgument);
}

// Rows that come all the time must not keep it signing for ever.
void TestLedgerTampering::anchoringEndsAtTheRowThatWasTheNewest()
{
    std::atomic<bool> isOver = false;
    std::thread writer([&] {
        while (!isOver)
            (void)m_ledger->record(test::published(kScopeB));
    });
    std::this_thread::sleep_for(20ms);
    std::uint64_t made = 0;
    for (int i = 0; i < 5; ++i)
        made += m_anchorer->anchorNow().value_or(100);
    isOver = true;
    writer.join();
    QVERIFY2(made <= 5, qPrintable(QString::number(made)));
}

void TestLedgerTampering::theLastRefusalsAreSignedAtACleanStop()
{
    Refusals refusals(*m_ledger, m_clock);
    {
        Anchorer ending(*m_database, m_clock, *m_key, &refusals, {.heads = m_heads.get()});
        for (std::uint32_t i = 0; i < Refusals::kAlone + 5; ++i)
            refusals.note(recordBy(test::someone(kScopeA), Operation::SkillPublish, Decision::Refused,
                                   ResourceType::Route, "POST:/v1/skills"));
    }
    const auto rows =
        m_database->read([](store::Connection& c) { return LedgerTable(c).after(kScopeA, 0, 100); }).value();
    QCOMPARE(rows.back().occurrences, 5);
    QCOMPARE(m_heads->known().chains.at(kScopeA).seq, rows.back().seq);
}

QTEST_APPLESS_MAIN(TestLedgerTampering)
#include "tst_ledger_tampering.moc"
