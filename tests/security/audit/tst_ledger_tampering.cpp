// SPDX-License-Identifier: Apache-2.0
// Edits the database file by hand, as somebody with the server's disk would, and looks whether the ledger tells.
#include "server/audit/anchorer.h"
#include "server/audit/export_check.h"
#include "server/audit/reader.h"
#include "server/audit/verifier.h"
#include "server/core/base64.h"
#include "tests/support/audit_records.h"

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

private:
    void fill();
    void edit(const std::string& sql);
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
    std::unique_ptr<Anchorer> m_anchorer;
    std::unique_ptr<Verifier> m_verifier;
};

void TestLedgerTampering::init()
{
    m_store = std::make_unique<test::StoreFixture>();
    m_database = &m_store->open();
    m_ledger = std::make_unique<Ledger>(*m_database, m_clock);
    m_key = SigningKey::open(m_store->path("ledger.key")).value();
    m_anchorer = std::make_unique<Anchorer>(*m_database, m_clock, *m_key);
    m_verifier = std::make_unique<Verifier>(*m_database, m_key->publicKey());
    fill();
}

void TestLedgerTampering::cleanup()
{
    m_verifier.reset();
    m_anchorer.reset();
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

// Somebody who knows the format makes all hashes anew after the edit: only the signature cannot be made.
void TestLedgerTampering::aRewrittenChainIsFoundByItsAnchor()
{
    auto rows = m_database->read([](store::Connection& c) { return LedgerTable(c).after(kScopeA, 0, 100); }).value();
    std::string sql;
    Digest previous = genesisOf(kScopeA);
    for (Row& row : rows) {
        row.actor = row.seq == 3 ? "eve" : row.actor;
        row.previous = previous;
        row.hash = previous = hashOf(row);
        sql += "UPDATE ledger SET actor = '" + row.actor + "', previous = x'" + row.previous.hex() + "', hash = x'" +
               row.hash.hex() + "' WHERE fingerprint = '" + kScopeA + "' AND seq = " + std::to_string(row.seq) + ";";
    }
    edit(sql);
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

QTEST_APPLESS_MAIN(TestLedgerTampering)
#include "tst_ledger_tampering.moc"
