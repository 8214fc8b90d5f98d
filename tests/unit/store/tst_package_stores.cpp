// SPDX-License-Identifier: Apache-2.0
#include "server/core/file_io.h"
#include "server/store/package_store_factory.h"
#include "tests/support/store_fixture.h"

#include <QDirIterator>
#include <QFile>
#include <sys/stat.h>
#include <thread>

using namespace assay;
using namespace assay::store;
using test::kScopeA;
using test::kScopeB;

class TestPackageStores : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void keepsBytesByScopeAndDigest_data() { backends(); }
    void keepsBytesByScopeAndDigest();
    void joinsPiecesOfEverySize_data() { backends(); }
    void joinsPiecesOfEverySize();
    void findsDamageAndRepairsIt_data() { backends(); }
    void findsDamageAndRepairsIt();
    void handsOutInPiecesWhatItVerifies_data() { backends(); }
    void handsOutInPiecesWhatItVerifies();
    void piecesOfDamagedBytesEndInAnError_data() { backends(); }
    void piecesOfDamagedBytesEndInAnError();
    void removes_data() { backends(); }
    void removes();
    void artifactsAreApart_data() { backends(); }
    void artifactsAreApart();
    void manyPutTheSameAtOnce_data() { backends(); }
    void manyPutTheSameAtOnce();
    void leavesNoTemporaryFile();
    void followsNoLinkBelowItsRoot();
    void refusesAMalformedFingerprint();
    void settingsAreChecked();
    void identitiesTellStoresApart();

private:
    void backends()
    {
        QTest::addColumn<QString>("backend");
        QTest::newRow("database") << "database";
        QTest::newRow("filesystem") << "filesystem";
    }
    PackageStoreSettings settings(const QString& backend) const
    {
        return {backend.toStdString(), m_store->path("root")};
    }
    std::unique_ptr<SkillPackageStore> open()
    {
        QFETCH(const QString, backend);
        return makePackageStore(settings(backend), *m_database).value();
    }
    // The one stored bundle, whichever the backend.
    void damage(const std::string& bytes)
    {
        const auto done = m_database->write([&](Connection& connection) -> Result<void> {
            auto query = connection.prepare("UPDATE bundles SET bytes = ?");
            return query->bindBlob(bytes).run();
        });
        QVERIFY(done);
        for (const QString& path : bundleFiles()) {
            QFile file(path);
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(QByteArray::fromStdString(bytes));
        }
    }
    QStringList bundleFiles() const
    {
        QStringList out;
        QDirIterator files(QString::fromStdString(m_store->path("root")), QDir::Files | QDir::Hidden | QDir::System,
                           QDirIterator::Subdirectories);
        while (files.hasNext())
            out.append(files.next());
        return out;
    }

    std::unique_ptr<test::StoreFixture> m_store;
    Database* m_database = nullptr;
};

namespace {

Result<void> put(SkillPackageStore& store, std::string_view scope, std::string_view bytes)
{
    const std::string_view pieces[] = {bytes};
    return store.put(scope, Digest::ofBytes(bytes), pieces);
}

} // namespace

void TestPackageStores::init()
{
    m_store = std::make_unique<test::StoreFixture>();
    m_database = &m_store->open();
}

void TestPackageStores::cleanup() { m_store.reset(); }

void TestPackageStores::keepsBytesByScopeAndDigest()
{
    const std::string bytes("\0bytes\xff", 7);
    const Digest digest = Digest::ofBytes(bytes);
    {
        const auto store = open();
        ASSAY_OK(put(*store, kScopeA, bytes));
        ASSAY_OK(put(*store, kScopeA, bytes));
    }
    const auto store = open();
    const auto bundle = store->fetch(kScopeA, digest);
    ASSAY_OK(bundle);
    QCOMPARE(bundle->bytes(), bytes);
    const auto other = store->fetch(kScopeB, digest);
    ASSAY_FAILS(other, ErrorCode::NotFound);
    ASSAY_FAILS(store->fetch(kScopeA, Digest::ofBytes("x")), ErrorCode::NotFound);
}

void TestPackageStores::joinsPiecesOfEverySize()
{
    const auto store = open();
    const std::string large(2'500'000, 'x');
    const std::string middle(300'000, 'y');
    const std::vector<std::string_view> pieces{"a", "", middle, "b", large, middle};
    std::string whole;
    for (const std::string_view piece : pieces)
        whole += piece;
    ASSAY_OK(store->put(kScopeA, Digest::ofBytes(whole), pieces));
    QVERIFY(store->fetch(kScopeA, Digest::ofBytes(whole))->bytes() == whole);
    ASSAY_OK(store->put(kScopeA, Digest::ofBytes(""), {}));
    QCOMPARE(store->fetch(kScopeA, Digest::ofBytes(""))->bytes(), "");
}

void TestPackageStores::findsDamageAndRepairsIt()
{
    const auto store = open();
    ASSAY_OK(put(*store, kScopeA, "bytes"));
    for (const char* bad : {"", "byte", "bytez", "bytesx"}) {
        damage(bad);
        const auto fetched = store->fetch(kScopeA, Digest::ofBytes("bytes"));
        ASSAY_FAILS(fetched, ErrorCode::Internal);
        QCOMPARE(fetched.error().reason, "digest_mismatch");
    }
    ASSAY_OK(put(*store, kScopeA, "bytes"));
    ASSAY_OK(store->fetch(kScopeA, Digest::ofBytes("bytes")));
}

void TestPackageStores::handsOutInPiecesWhatItVerifies()
{
    const auto store = open();
    for (const std::size_t size : {0UL, 1UL, 100'000UL, 1UL << 20, (1UL << 20) + 1, 5'000'000UL}) {
        std::string bytes(size, '\0');
        for (std::size_t i = 0; i < size; ++i)
            bytes[i] = static_cast<char>(i * 7 + i / 4093);
        ASSAY_OK(put(*store, kScopeA, bytes));
        std::string got;
        ASSAY_OK(store->read(kScopeA, Digest::ofBytes(bytes), [&](std::string_view piece) -> Result<void> {
            got += piece;
            return {};
        }));
        QVERIFY(got == bytes);
    }
    const auto ignore = [](std::string_view) { return Result<void>{}; };
    ASSAY_FAILS(store->read(kScopeB, Digest::ofBytes("x"), ignore), ErrorCode::NotFound);
    const auto full = [](std::string_view) { return Result<void>(fail(ErrorCode::TooLarge, "full")); };
    ASSAY_FAILS(store->read(kScopeA, Digest::ofBytes(std::string(1, '\0')), full), ErrorCode::TooLarge);
}

void TestPackageStores::piecesOfDamagedBytesEndInAnError()
{
    const auto store = open();
    const std::string bytes(3'000'000, 'a');
    ASSAY_OK(put(*store, kScopeA, bytes));
    const auto ignore = [](std::string_view) { return Result<void>{}; };
    std::string bad = bytes;
    bad.back() = 'b';
    for (const auto& damaged : {bad, std::string(), std::string(10, 'a')}) {
        damage(damaged);
        const auto read = store->read(kScopeA, Digest::ofBytes(bytes), ignore);
        ASSAY_FAILS(read, ErrorCode::Internal);
        QCOMPARE(read.error().reason, "digest_mismatch");
    }
}

void TestPackageStores::removes()
{
    const auto store = open();
    ASSAY_OK(put(*store, kScopeA, "bytes"));
    ASSAY_OK(put(*store, kScopeB, "bytes"));
    ASSAY_OK(store->remove(kScopeA, Digest::ofBytes("bytes")));
    ASSAY_OK(store->remove(kScopeA, Digest::ofBytes("bytes")));
    ASSAY_FAILS(store->fetch(kScopeA, Digest::ofBytes("bytes")), ErrorCode::NotFound);
    ASSAY_OK(store->fetch(kScopeB, Digest::ofBytes("bytes")));
}

void TestPackageStores::artifactsAreApart()
{
    QFETCH(const QString, backend);
    const auto packages = open();
    const auto artifacts = makeArtifactStore(settings(backend), *m_database).value();
    ASSAY_OK(put(*artifacts, kScopeA, "bytes"));
    ASSAY_FAILS(packages->fetch(kScopeA, Digest::ofBytes("bytes")), ErrorCode::NotFound);
    ASSAY_OK(artifacts->fetch(kScopeA, Digest::ofBytes("bytes")));
}

void TestPackageStores::manyPutTheSameAtOnce()
{
    const auto store = open();
    std::atomic<int> stored = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; ++i)
        threads.emplace_back([&, i] {
            for (int j = 0; j < 10; ++j)
                stored += put(*store, i % 2 == 0 ? kScopeA : kScopeB, "bytes" + std::to_string(j)).has_value();
        });
    for (std::thread& thread : threads)
        thread.join();
    QCOMPARE(stored.load(), 160);
    for (int j = 0; j < 10; ++j)
        ASSAY_OK(store->fetch(kScopeB, Digest::ofBytes("bytes" + std::to_string(j))));
}

void TestPackageStores::leavesNoTemporaryFile()
{
    const auto first = makePackageStore(settings("filesystem"), *m_database).value();
    ASSAY_OK(put(*first, kScopeA, "bytes"));
    QCOMPARE(bundleFiles().size(), 1);
    // What a killed server left goes away at the next start.
    ASSAY_OK(replaceFileDurably(m_store->path("root/packages/tmp/left"), "half"));
    QCOMPARE(bundleFiles().size(), 2);
    const auto second = makePackageStore(settings("filesystem"), *m_database).value();
    QCOMPARE(bundleFiles().size(), 1);
}

void TestPackageStores::followsNoLinkBelowItsRoot()
{
    const auto store = makePackageStore(settings("filesystem"), *m_database).value();
    ASSAY_OK(put(*store, kScopeA, "bytes"));
    const Digest digest = Digest::ofBytes("bytes");
    const std::filesystem::path stored = bundleFiles().at(0).toStdString();
    const std::filesystem::path elsewhere = m_store->path("elsewhere");
    std::filesystem::rename(stored, elsewhere);
    std::filesystem::create_symlink(elsewhere, stored);
    const auto linked = store->fetch(kScopeA, digest);
    ASSAY_FAILS(linked, ErrorCode::Internal);
    QCOMPARE(linked.error().reason, "digest_mismatch");
    std::filesystem::remove(stored);
    QCOMPARE(::mkfifo(stored.c_str(), 0600), 0);
    ASSAY_FAILS(store->fetch(kScopeA, digest), ErrorCode::Internal);
    std::filesystem::remove(stored);
    const auto scope = stored.parent_path().parent_path();
    std::filesystem::rename(scope, m_store->path("scope"));
    std::filesystem::create_directory_symlink(m_store->path("scope"), scope);
    QVERIFY(!store->fetch(kScopeA, digest));
    QVERIFY(!put(*store, kScopeA, "bytes"));
}

void TestPackageStores::refusesAMalformedFingerprint()
{
    const auto store = makePackageStore(settings("filesystem"), *m_database).value();
    for (const char* scope : {"", "..", "sc_gggggggggggggggggggggggggggggggg", "sc_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/x",
                              "../sc_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "sc_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})
        ASSAY_FAILS(put(*store, scope, "bytes"), ErrorCode::Internal);
    QVERIFY(bundleFiles().isEmpty());
}

void TestPackageStores::settingsAreChecked()
{
    const auto s3 = makePackageStore({"s3", {}}, *m_database);
    ASSAY_FAILS(s3, ErrorCode::InvalidArgument);
    QVERIFY(s3.error().message.contains("s3"));
    ASSAY_FAILS(makePackageStore({"", {}}, *m_database), ErrorCode::InvalidArgument);
    ASSAY_FAILS(makePackageStore({"filesystem", {}}, *m_database), ErrorCode::InvalidArgument);
    ASSAY_FAILS(makePackageStore({"filesystem", "relative"}, *m_database), ErrorCode::InvalidArgument);
    QVERIFY(!makePackageStore({"filesystem", "/proc/nothing"}, *m_database));
}

void TestPackageStores::identitiesTellStoresApart()
{
    const auto database = makePackageStore(settings("database"), *m_database).value();
    const auto one = makePackageStore({"filesystem", m_store->path("one")}, *m_database).value();
    const auto two = makePackageStore({"filesystem", m_store->path("two")}, *m_database).value();
    QCOMPARE(database->identity(), "database");
    QVERIFY(one->identity() != two->identity());
    QCOMPARE(makePackageStore({"filesystem", m_store->path("one")}, *m_database).value()->identity(), one->identity());
    QVERIFY(!one->identity().contains("one/"));
    QVERIFY(database->within(*m_database) != nullptr && one->within(*m_database) == nullptr);
}

QTEST_GUILESS_MAIN(TestPackageStores)
#include "tst_package_stores.moc"
