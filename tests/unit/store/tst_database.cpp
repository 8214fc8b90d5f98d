// SPDX-License-Identifier: Apache-2.0
#include "server/store/schema.h"
#include "server/store/server_state_table.h"
#include "tests/support/store_fixture.h"

#include <QFile>
#include <sqlite3.h>
#include <thread>

using namespace assay;
using namespace assay::store;

namespace {

Result<void> putState(Database& database, std::string name, std::string value)
{
    return database.write([&](Connection& connection) { return ServerStateTable(connection).put(name, value); });
}

std::optional<std::string> state(Database& database, std::string name)
{
    return database.read([&](Connection& connection) { return ServerStateTable(connection).find(name); }).value();
}

std::int64_t pragma(const std::filesystem::path& file, const char* sql)
{
    sqlite3* handle = nullptr;
    sqlite3_open(file.c_str(), &handle);
    Connection connection(handle);
    auto query = connection.prepare(sql);
    return query && query->step() ? query->integer(0) : -1;
}

void change(const std::filesystem::path& file, const char* sql)
{
    sqlite3* handle = nullptr;
    sqlite3_open(file.c_str(), &handle);
    Connection connection(handle);
    QVERIFY(connection.execute(sql));
}

} // namespace

class TestDatabase : public QObject
{
    Q_OBJECT

private slots:
    void makesANewDatabaseForItsOwnerOnly();
    void keepsWhatWasAnswered();
    void aFailedJobLeavesNothingAndItsNeighboursStay();
    void aThrowingJobIsAnError();
    void manyWritersShareCommitsAndAllAreAnswered();
    void refusesMoreWaitersThanTheLimit();
    void readsSeeOneSnapshot();
    void readsCannotWrite();
    void refusesASecondServer();
    void administersBesideAServer();
    void refusesANewerSchema();
    void refusesAnotherProgramsFile();
    void refusesADamagedDatabase();
    void copiesWhileWriting();
    void backupDoesNotReplaceAFile();
};

void TestDatabase::makesANewDatabaseForItsOwnerOnly()
{
    test::StoreFixture store;
    store.open();
    QCOMPARE(QFile::permissions(QString::fromStdString(store.file())) & 0x0FFF,
             (QFile::ReadOwner | QFile::WriteOwner | QFile::ReadUser | QFile::WriteUser) & 0x0FFF);
    store.close();
    QCOMPARE(pragma(store.file(), "PRAGMA user_version"), newestSchema());
    QCOMPARE(pragma(store.file(), "PRAGMA application_id"), kApplicationId);
    QCOMPARE(pragma(store.file(), "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND strict = 0"
                                  " AND name NOT LIKE 'sqlite%'"),
             0);
}

void TestDatabase::keepsWhatWasAnswered()
{
    test::StoreFixture store;
    ASSAY_OK(putState(store.open(), "a", std::string("\0x", 2)));
    QCOMPARE(state(store.open(), "a"), std::optional(std::string("\0x", 2)));
}

void TestDatabase::aFailedJobLeavesNothingAndItsNeighboursStay()
{
    test::StoreFixture store;
    Database& database = store.open();
    std::vector<std::thread> threads;
    std::atomic<int> failed = 0;
    for (int i = 0; i < 40; ++i)
        threads.emplace_back([&, i] {
            const auto done = database.write([&](Connection& connection) -> Result<void> {
                (void)ServerStateTable(connection).put("k" + std::to_string(i), "v");
                if (i % 2 == 1)
                    return fail(ErrorCode::Conflict, "no");
                return {};
            });
            failed += !done && done.error().code == ErrorCode::Conflict;
        });
    for (std::thread& thread : threads)
        thread.join();
    QCOMPARE(failed.load(), 20);
    for (int i = 0; i < 40; ++i)
        QCOMPARE(state(database, "k" + std::to_string(i)).has_value(), i % 2 == 0);
}

void TestDatabase::aThrowingJobIsAnError()
{
    test::StoreFixture store;
    Database& database = store.open();
    const auto thrown = database.write([](Connection& connection) -> Result<void> {
        (void)ServerStateTable(connection).put("a", "1");
        throw std::runtime_error("x");
    });
    ASSAY_FAILS(thrown, ErrorCode::Internal);
    QVERIFY(!state(database, "a"));
    ASSAY_FAILS(database.read([](Connection&) -> Result<int> { throw std::runtime_error("x"); }), ErrorCode::Internal);
    ASSAY_OK(putState(database, "a", "2"));
}

void TestDatabase::manyWritersShareCommitsAndAllAreAnswered()
{
    test::StoreFixture store;
    Database& database = store.open();
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; ++i)
        threads.emplace_back([&, i] {
            for (int j = 0; j < 50; ++j)
                (void)putState(database, std::to_string(i) + "/" + std::to_string(j), "v");
        });
    for (std::thread& thread : threads)
        thread.join();
    const auto count = database.read([](Connection& connection) -> Result<std::int64_t> {
        auto query = connection.prepare("SELECT count(*) FROM server_state");
        (void)query->step();
        return query->integer(0);
    });
    QCOMPARE(count.value(), 800);
}

void TestDatabase::refusesMoreWaitersThanTheLimit()
{
    test::StoreFixture store;
    Database& database = store.open(2);
    std::atomic<bool> go = false;
    std::atomic<int> started = 0;
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
        (void)database.write([&](Connection&) -> Result<void> {
            ++started;
            while (!go)
                std::this_thread::yield();
            return {};
        });
    });
    QVERIFY(QTest::qWaitFor([&] { return started == 1; }));
    std::atomic<int> refused = 0;
    for (int i = 0; i < 5; ++i)
        threads.emplace_back([&, i] {
            const auto done = putState(database, std::to_string(i), "v");
            refused += !done && done.error().code == ErrorCode::Unavailable;
        });
    QVERIFY(QTest::qWaitFor([&] { return refused == 3; }));
    go = true;
    for (std::thread& thread : threads)
        thread.join();
    QCOMPARE(refused.load(), 3);
}

void TestDatabase::readsSeeOneSnapshot()
{
    test::StoreFixture store;
    Database& database = store.open();
    ASSAY_OK(putState(database, "a", "1"));
    const auto same = database.read([&](Connection& connection) -> Result<bool> {
        const auto first = ServerStateTable(connection).find("a");
        std::thread([&] { (void)putState(database, "a", "2"); }).join();
        return *first == *ServerStateTable(connection).find("a");
    });
    QVERIFY(same.value());
    QCOMPARE(state(database, "a"), std::optional<std::string>("2"));
}

void TestDatabase::readsCannotWrite()
{
    test::StoreFixture store;
    Database& database = store.open();
    const auto done = database.read([](Connection& connection) { return ServerStateTable(connection).put("a", "1"); });
    QVERIFY(!done);
    QVERIFY(!state(database, "a"));
}

void TestDatabase::administersBesideAServer()
{
    test::StoreFixture store;
    Database& server = store.open();
    const DatabaseOptions besideServer{.file = store.file(), .readers = 1, .use = DatabaseUse::BesideServer};
    const auto beside = Database::open(besideServer);
    ASSAY_OK(beside);
    const auto written =
        (*beside)->write([](Connection& connection) { return ServerStateTable(connection).put("a", "1"); });
    ASSAY_OK(written);
    QCOMPARE(state(server, "a"), std::optional<std::string>("1"));

    const std::string newer = "PRAGMA user_version=" + std::to_string(newestSchema() + 1);
    const auto upgraded = server.write([&](Connection& connection) { return connection.execute(newer.c_str()); });
    ASSAY_OK(upgraded);
    const auto stranger = Database::open(besideServer);
    ASSAY_FAILS(stranger, ErrorCode::Unavailable);
}

void TestDatabase::refusesASecondServer()
{
    test::StoreFixture store;
    store.open();
    const auto second = Database::open({.file = store.file()});
    ASSAY_FAILS(second, ErrorCode::Unavailable);
    QVERIFY(second.error().message.contains(std::to_string(::getpid())));
    store.close();
    ASSAY_OK(Database::open({.file = store.file()}));
}

void TestDatabase::refusesANewerSchema()
{
    test::StoreFixture store;
    store.open();
    store.close();
    change(store.file(), "PRAGMA user_version=1000");
    const auto opened = Database::open({.file = store.file()});
    ASSAY_FAILS(opened, ErrorCode::Unavailable);
    QVERIFY(opened.error().message.contains("newer"));
    QCOMPARE(pragma(store.file(), "PRAGMA user_version"), 1000);
}

void TestDatabase::refusesAnotherProgramsFile()
{
    test::StoreFixture store;
    change(store.file(), "CREATE TABLE theirs(x); PRAGMA application_id=7");
    ASSAY_FAILS(Database::open({.file = store.file()}), ErrorCode::Unavailable);
    change(store.file(), "PRAGMA application_id=0");
    ASSAY_FAILS(Database::open({.file = store.file()}), ErrorCode::Unavailable);
    QCOMPARE(pragma(store.file(), "SELECT count(*) FROM sqlite_schema"), 1);
}

void TestDatabase::refusesADamagedDatabase()
{
    test::StoreFixture store;
    ASSAY_OK(putState(store.open(), "a", "1"));
    store.close();
    QFile file(QString::fromStdString(store.file()));
    QVERIFY(file.open(QIODevice::ReadWrite));
    // Page 1 holds the schema; the second page is the root of the first table.
    QVERIFY(file.seek(4096));
    file.write(QByteArray(4096, '\xa5'));
    file.close();
    const auto opened = Database::open({.file = store.file()});
    ASSAY_FAILS(opened, ErrorCode::Unavailable);
    QVERIFY(opened.error().message.contains("restore"));
}

void TestDatabase::copiesWhileWriting()
{
    test::StoreFixture store;
    Database& database = store.open();
    std::atomic<bool> stop = false;
    std::atomic<int> written = 0;
    std::thread writer([&] {
        // Two values that are always equal in a consistent copy.
        for (int i = 0; !stop; ++i) {
            const std::string value = std::to_string(i) + std::string(20'000, 'x');
            (void)database.write([&](Connection& connection) -> Result<void> {
                (void)ServerStateTable(connection).put("a", value);
                (void)ServerStateTable(connection).put(std::to_string(i % 100), value);
                return ServerStateTable(connection).put("b", value);
            });
            ++written;
        }
    });
    QVERIFY(QTest::qWaitFor([&] { return written > 50; }));
    for (int i = 0; i < 5; ++i) {
        const auto copy = store.path(("copy" + std::to_string(i)).c_str());
        const int before = written;
        ASSAY_OK(database.backup(copy));
        auto opened = Database::open({.file = copy});
        ASSAY_OK(opened);
        QCOMPARE(state(**opened, "a"), state(**opened, "b"));
        QVERIFY(std::atoi(state(**opened, "a")->c_str()) >= before - 1);
    }
    stop = true;
    writer.join();
}

void TestDatabase::backupDoesNotReplaceAFile()
{
    test::StoreFixture store;
    Database& database = store.open();
    ASSAY_OK(database.backup(store.path("copy")));
    ASSAY_FAILS(database.backup(store.path("copy")), ErrorCode::Conflict);
    ASSAY_FAILS(database.backup(store.path("no/folder")), ErrorCode::NotFound);
    QCOMPARE(QDir(QString::fromStdString(store.path(""))).entryList({"*partial*"}).size(), 0);
}

QTEST_GUILESS_MAIN(TestDatabase)
#include "tst_database.moc"
