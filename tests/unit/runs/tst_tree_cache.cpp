// SPDX-License-Identifier: Apache-2.0
#include "server/core/file_io.h"
#include "server/runs/materializer.h"
#include "server/runs/tree_cache.h"
#include "server/runs/tree_writer.h"
#include "tests/support/test_support.h"
#include "tests/unit/runs/package_fixture.h"

#include <set>

#include <QTemporaryDir>
#include <fcntl.h>
#include <latch>
#include <sys/stat.h>

using namespace assay;
using namespace assay::runs;
namespace fs = std::filesystem;

class TestTreeCache : public QObject
{
    Q_OBJECT

private slots:
    void init() { m_directory = std::make_unique<QTemporaryDir>(); }
    void cleanup() { m_directory.reset(); }
    void writesExactlyThePackage();
    void sealsFilesAndFoldersWhateverTheUmask();
    void refusesStreamsThatAreNotOfTheForm_data();
    void refusesStreamsThatAreNotOfTheForm();
    void removesATreeWithoutFollowingLinks();
    void extractsOnceAndHitsAfterwards();
    void keepsScopesAndStoresApart();
    void extractsOnceForManyAtOnce();
    void leavesNothingOfAFailedExtraction();
    void evictsTheLeastRecentlyUsedOnly();
    void neverEvictsWhatIsInUse();
    void aDroppedTreeIsNotHandedOutAgain();
    void startsEmptyAndRemovesWhatWasLeft();
    void keepsTreesInMemoryAndTheRestOnDisk();
    void makesRoomInMemoryForWhatIsNewer();
    void takesTheStreamInPiecesOfAnySize();
    void materializesEveryPackageOfAPlan();
    void triesAgainWhenTheStoreIsAway();

private:
    fs::path directory() const { return m_directory->path().toStdString(); }
    std::unique_ptr<TreeCache> cache(std::uint64_t limit = 1 << 30, std::uint64_t memory = 0) const
    {
        return std::move(TreeCache::open({directory() / "cache", limit, memory}).value());
    }
    std::unique_ptr<QTemporaryDir> m_directory;
};

namespace {

const test::PackageFixture& demo()
{
    static const test::PackageFixture fixture(
        "demo", {{"SKILL.md", "hello"}, {"a-b/x", "1"}, {"a/deep/er/y", "2"}, {"a/z", "3", true}, {"empty", ""}});
    return fixture;
}

TreeKey key(const test::PackageFixture& package, std::string scope = "sc_a")
{
    return {std::move(scope), "database", package.pinned.digest};
}

TreeCache::Fetch fetch(const test::PackageFixture& package)
{
    return [&package](const store::PieceSink& each) { return each(package.stream); };
}

unsigned modeOf(const fs::path& path)
{
    struct stat status{};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_mode : 0;
}

std::vector<std::string> listing(const fs::path& root)
{
    std::vector<std::string> out;
    for (const auto& each : fs::recursive_directory_iterator(root))
        out.push_back(each.path().lexically_relative(root).string());
    std::ranges::sort(out);
    return out;
}

test::PackageFixture sized(const std::string& name, std::size_t bytes)
{
    return {name, {{"SKILL.md", std::string(bytes, name.front())}}};
}

/// Gives the bundles it was told of; the store is away for the first `failures` calls.
class FakeCatalog final : public CatalogPort
{
public:
    Result<contract::Agent> agent(const auth::Identity&, std::string_view) override
    {
        return fail(ErrorCode::NotFound, "none");
    }
    Result<std::vector<registry::PinnedSkill>> pin(std::string_view, const std::vector<std::string>&,
                                                   const std::map<std::string, std::string>&) override
    {
        return std::vector<registry::PinnedSkill>{};
    }
    Result<store::Bundle> bundle(std::string_view, const Digest& digest) override
    {
        ++calls;
        if (failures-- > 0)
            return refuse(reason, "the store is away");
        for (const auto* package : packages)
            if (package->pinned.digest == digest)
                return package->bundle();
        return refuse("digest_mismatch", "gone");
    }
    std::vector<const test::PackageFixture*> packages;
    std::string reason = "package_store_unavailable";
    int failures = 0;
    int calls = 0;
};

} // namespace

void TestTreeCache::writesExactlyThePackage()
{
    const auto cached = cache();
    const auto lease = cached->acquire(key(demo()), fetch(demo()));
    ASSAY_OK(lease);
    QCOMPARE(listing(lease->path()), (std::vector<std::string>{"SKILL.md", "a", "a-b", "a-b/x", "a/deep", "a/deep/er",
                                                               "a/deep/er/y", "a/z", "empty"}));
    for (const auto& file : demo().pinned.files)
        QCOMPARE(Digest::ofBytes(readFile(lease->path() / file.path, 1 << 20).value()).text(), file.sha256);
    QCOMPARE(lease->bytes(), 8U);
}

void TestTreeCache::sealsFilesAndFoldersWhateverTheUmask()
{
    const auto old = ::umask(0077);
    const auto cached = cache();
    const auto lease = cached->acquire(key(demo()), fetch(demo()));
    ::umask(old);
    ASSAY_OK(lease);
    QCOMPARE(modeOf(lease->path()), S_IFDIR | 0555U);
    QCOMPARE(modeOf(lease->path() / "a"), S_IFDIR | 0555U);
    QCOMPARE(modeOf(lease->path() / "a/deep/er"), S_IFDIR | 0555U);
    QCOMPARE(modeOf(lease->path() / "a/z"), S_IFREG | 0555U);
    QCOMPARE(modeOf(lease->path() / "SKILL.md"), S_IFREG | 0444U);
}

void TestTreeCache::refusesStreamsThatAreNotOfTheForm_data()
{
    QTest::addColumn<QByteArray>("stream");
    const auto row = [](const char* name, const std::vector<test::PackageFixture::File>& files) {
        QTest::newRow(name) << QByteArray::fromStdString(test::PackageFixture("x", files).stream);
    };
    row("parent", {{"../out", "x"}});
    row("absolute", {{"/out", "x"}});
    row("inner parent", {{"a/../../out", "x"}});
    row("empty path", {{"", "x"}});
    row("twice", {{"a", "x"}, {"a", "y"}});
    row("file and folder", {{"a", "x"}, {"a/b", "y"}});
    row("control character", {{"a\n", "x"}});
    QTest::newRow("another format") << QByteArray("assay-package-v2\n");
    QTest::newRow("empty") << QByteArray();
    const auto whole = QByteArray::fromStdString(demo().stream);
    QTest::newRow("cut in content") << whole.chopped(1) + "";
    QTest::newRow("cut in length") << whole.left(20);
    auto mode = whole;
    mode[17 + 8 + 8] = '2';
    QTest::newRow("unknown mode") << mode;
    auto huge = whole;
    huge[17] = char(0xff);
    QTest::newRow("length beyond all") << huge;
}

void TestTreeCache::refusesStreamsThatAreNotOfTheForm()
{
    QFETCH(QByteArray, stream);
    if (QByteArray(QTest::currentDataTag()) == "cut in content")
        stream = QByteArray::fromStdString(test::PackageFixture("x", {{"a", "xy"}}).stream).chopped(1);
    const auto root = directory() / "tree";
    fs::create_directory(root);
    const auto fd = openFile(root, O_RDONLY | O_DIRECTORY);
    ASSAY_OK(fd);
    QVERIFY(!writeTree(fd->get(), stream.toStdString()));
    QVERIFY(!fs::exists(directory() / "out"));
}

void TestTreeCache::removesATreeWithoutFollowingLinks()
{
    fs::create_directories(directory() / "keep/inner");
    fs::create_directories(directory() / "gone/inner");
    fs::create_directory_symlink(directory() / "keep", directory() / "gone/inner/link");
    QCOMPARE(::chmod((directory() / "gone/inner").c_str(), 0555), 0);
    const auto fd = openFile(directory(), O_RDONLY | O_DIRECTORY);
    ASSAY_OK(fd);
    ASSAY_OK(removeTree(fd->get(), "gone"));
    QVERIFY(!fs::exists(directory() / "gone"));
    QVERIFY(fs::exists(directory() / "keep/inner"));
    ASSAY_OK(removeTree(fd->get(), "gone"));
}

void TestTreeCache::extractsOnceAndHitsAfterwards()
{
    const auto cached = cache();
    fs::path path;
    {
        const auto first = cached->acquire(key(demo()), fetch(demo()));
        ASSAY_OK(first);
        QVERIFY(!first->wasHit());
        path = first->path();
    }
    const auto second =
        cached->acquire(key(demo()), [](const auto&) { return Result<void>(fail(ErrorCode::Internal, "x")); });
    ASSAY_OK(second);
    QVERIFY(second->wasHit());
    QCOMPARE(second->path(), path);
    QCOMPARE(cached->counts().hits, 1U);
    QCOMPARE(cached->counts().misses, 1U);
}

void TestTreeCache::keepsScopesAndStoresApart()
{
    const auto cached = cache();
    const auto a = cached->acquire(key(demo(), "sc_a"), fetch(demo()));
    const auto b = cached->acquire(key(demo(), "sc_b"), fetch(demo()));
    const auto c = cached->acquire({"sc_a", "filesystem", demo().pinned.digest}, fetch(demo()));
    ASSAY_OK(a);
    ASSAY_OK(b);
    ASSAY_OK(c);
    QVERIFY(!b->wasHit() && !c->wasHit());
    QCOMPARE((std::set<fs::path>{a->path(), b->path(), c->path()}).size(), 3U);
}

void TestTreeCache::extractsOnceForManyAtOnce()
{
    const auto cached = cache();
    std::atomic<int> fetches{0};
    std::atomic<int> good{0};
    {
        std::latch start(8);
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([&] {
                start.arrive_and_wait();
                const auto lease = cached->acquire(key(demo()), [&](const auto& each) {
                    ++fetches;
                    std::this_thread::sleep_for(std::chrono::milliseconds(20));
                    return each(demo().stream);
                });
                good += lease && fs::exists(lease->path() / "a/z");
            });
    }
    QCOMPARE(fetches.load(), 1);
    QCOMPARE(good.load(), 8);
}

void TestTreeCache::leavesNothingOfAFailedExtraction()
{
    const auto cached = cache();
    const test::PackageFixture bad("bad", {{"a/b", "x"}, {"a/b/c", "y"}});
    QVERIFY(!cached->acquire(key(bad), fetch(bad)));
    const auto passed =
        cached->acquire(key(bad), [](const auto&) { return Result<void>(refuse("digest_mismatch", "x")); });
    ASSAY_FAILS(passed, ErrorCode::Refused);
    QCOMPARE(listing(directory() / "cache/trees/sc_a"), std::vector<std::string>{});
    QCOMPARE(cached->counts().trees, 0U);
    QCOMPARE(cached->counts().bytes, 0U);
}

void TestTreeCache::evictsTheLeastRecentlyUsedOnly()
{
    const auto cached = cache(250);
    const auto a = sized("a", 100), b = sized("b", 100), c = sized("c", 100);
    ASSAY_OK(cached->acquire(key(a), fetch(a)));
    ASSAY_OK(cached->acquire(key(b), fetch(b)));
    ASSAY_OK(cached->acquire(key(a), fetch(a)));
    ASSAY_OK(cached->acquire(key(c), fetch(c)));
    QCOMPARE(cached->counts().bytes, 200U);
    QVERIFY(cached->acquire(key(a), fetch(a))->wasHit());
    QVERIFY(cached->acquire(key(c), fetch(c))->wasHit());
    QVERIFY(!cached->acquire(key(b), fetch(b))->wasHit());
}

void TestTreeCache::neverEvictsWhatIsInUse()
{
    const auto cached = cache(50);
    const auto a = sized("a", 100), b = sized("b", 100);
    const auto leaseA = cached->acquire(key(a), fetch(a));
    const auto leaseB = cached->acquire(key(b), fetch(b));
    ASSAY_OK(leaseA);
    ASSAY_OK(leaseB);
    QVERIFY(fs::exists(leaseA->path() / "SKILL.md"));
    QVERIFY(fs::exists(leaseB->path() / "SKILL.md"));
    QCOMPARE(cached->counts().bytes, 200U);
}

void TestTreeCache::aDroppedTreeIsNotHandedOutAgain()
{
    const auto cached = cache();
    fs::path old;
    {
        const auto held = cached->acquire(key(demo()), fetch(demo()));
        ASSAY_OK(held);
        old = held->path();
        cached->drop(key(demo()));
        QVERIFY(fs::exists(old)); // a box still shows it
        const auto fresh = cached->acquire(key(demo()), fetch(demo()));
        ASSAY_OK(fresh);
        QVERIFY(!fresh->wasHit());
        QVERIFY(fresh->path() != old);
    }
    QVERIFY(!fs::exists(old));
    QCOMPARE(cached->counts().bytes, 8U);
    cached->drop(key(demo()));
    QCOMPARE(cached->counts().bytes, 0U);
    QCOMPARE(cached->counts().dropped, 2U);
}

void TestTreeCache::startsEmptyAndRemovesWhatWasLeft()
{
    {
        const auto first = cache();
        ASSAY_OK(first->acquire(key(demo()), fetch(demo())));
    }
    {
        const auto second = cache();
        QVERIFY(!second->acquire(key(demo()), fetch(demo()))->wasHit());
    } // waits for the removal
    int folders = 0;
    for (const auto& each : fs::directory_iterator(directory() / "cache")) {
        QCOMPARE(each.path().filename().string(), "trees");
        ++folders;
    }
    QCOMPARE(folders, 1);
    QCOMPARE(modeOf(directory() / "cache"), S_IFDIR | 0700U);
}

void TestTreeCache::keepsTreesInMemoryAndTheRestOnDisk()
{
    const auto cached = cache(1 << 30, 64 << 10);
    if (cached->describe().contains("kept on disk"))
        QSKIP("this machine has no place in memory");
    const auto small = sized("small", 10'000), large = sized("large", 100'000);
    const auto footprint = [](const auto& package) {
        return TreeCache::footprintOf(std::vector{package.pinned.sizeBytes});
    };
    const auto first = cached->acquire(key(small), fetch(small), footprint(small));
    ASSAY_OK(first);
    QCOMPARE(cached->counts().memoryBytes, 4096U * 4);
    QVERIFY(!first->path().string().starts_with(directory().string()));
    const auto second = cached->acquire(key(large), fetch(large), footprint(large));
    ASSAY_OK(second);
    QVERIFY(second->path().string().starts_with(directory().string()));
    QCOMPARE(cached->counts().memoryBytes, 4096U * 4);
    for (const auto* lease : {&*first, &*second}) {
        QVERIFY(fs::exists(lease->path() / "SKILL.md"));
        QCOMPARE(modeOf(lease->path() / "SKILL.md"), S_IFREG | 0444U);
    }
    const auto unknown = cached->acquire(key(demo()), fetch(demo()));
    ASSAY_OK(unknown);
    QVERIFY(unknown->path().string().starts_with(directory().string()));
}

void TestTreeCache::makesRoomInMemoryForWhatIsNewer()
{
    const auto cached = cache(1 << 30, 64 << 10);
    if (cached->describe().contains("kept on disk"))
        QSKIP("this machine has no place in memory");
    const auto a = sized("a", 30'000), b = sized("b", 30'000), c = sized("c", 30'000);
    const std::uint64_t footprint = 9 * 4096;
    {
        const auto held = cached->acquire(key(a), fetch(a), footprint);
        ASSAY_OK(held);
        const auto beside = cached->acquire(key(b), fetch(b), footprint);
        ASSAY_OK(beside); // the first is in use: this one goes to the disk
        QVERIFY(beside->path().string().starts_with(directory().string()));
        QVERIFY(fs::exists(held->path() / "SKILL.md"));
    }
    const auto newer = cached->acquire(key(c), fetch(c), footprint);
    ASSAY_OK(newer);
    QVERIFY(!newer->path().string().starts_with(directory().string()));
    QCOMPARE(cached->counts().memoryBytes, footprint);
    QVERIFY(!cached->acquire(key(a), fetch(a), footprint)->wasHit());
}

void TestTreeCache::takesTheStreamInPiecesOfAnySize()
{
    const auto cached = cache();
    for (const std::size_t size : {1U, 2U, 7U, 64U}) {
        const auto lease = cached->acquire(key(demo(), "sc_" + std::to_string(size)), [&](const auto& each) {
            for (std::size_t at = 0; at < demo().stream.size(); at += size)
                if (auto taken = each(std::string_view(demo().stream).substr(at, size)); !taken)
                    return taken;
            return Result<void>{};
        });
        ASSAY_OK(lease);
        QCOMPARE(lease->bytes(), 8U);
        QVERIFY(fs::exists(lease->path() / "a/deep/er/y"));
    }
    const auto cut = cached->acquire(key(demo(), "sc_cut"), [&](const auto& each) {
        return each(std::string_view(demo().stream).substr(0, demo().stream.size() - 5));
    });
    QVERIFY(!cut);
}

void TestTreeCache::materializesEveryPackageOfAPlan()
{
    const auto cached = cache();
    const auto other = sized("other", 10);
    FakeCatalog catalog;
    catalog.packages = {&demo(), &other};
    Materializer materializer(catalog, *cached);
    RunPlan plan;
    plan.scopeFingerprint = "sc_a";
    plan.skills = {demo().pinned, other.pinned};
    const auto first = materializer.materialize(plan);
    ASSAY_OK(first);
    QCOMPARE(first->packages.size(), 2U);
    QVERIFY(!first->allHits);
    QCOMPARE(first->bytes, 18U);
    QCOMPARE(first->packages[0].files.size(), demo().pinned.files.size());
    QCOMPARE(Materializer::firstBytes(*first, "demo", "SKILL.md"), "hell");
    QCOMPARE(Materializer::firstBytes(*first, "demo", "a/z"), "3");
    QCOMPARE(Materializer::firstBytes(*first, "none", "a/z"), "");
    QVERIFY(materializer.materialize(plan)->allHits);
    materializer.distrust(plan);
    QVERIFY(!materializer.materialize(plan)->allHits);
    plan.skills.push_back(sized("missing", 1).pinned);
    const auto missing = materializer.materialize(plan);
    ASSAY_FAILS(missing, ErrorCode::Refused);
    QCOMPARE(missing.error().reason, "digest_mismatch");
}

void TestTreeCache::triesAgainWhenTheStoreIsAway()
{
    const auto cached = cache();
    FakeCatalog catalog;
    catalog.packages = {&demo()};
    Materializer materializer(catalog, *cached);
    RunPlan plan;
    plan.scopeFingerprint = "sc_a";
    plan.skills = {demo().pinned};
    catalog.failures = 3;
    const auto away = materializer.materialize(plan);
    ASSAY_FAILS(away, ErrorCode::Refused);
    QCOMPARE(away.error().reason, "package_store_unavailable");
    QCOMPARE(catalog.calls, 3);
    catalog.failures = 2;
    ASSAY_OK(materializer.materialize(plan));
}

QTEST_APPLESS_MAIN(TestTreeCache)
#include "tst_tree_cache.moc"
