// SPDX-License-Identifier: Apache-2.0
#include "server/core/digest.h"
#include "server/core/file_io.h"
#include "server/sandbox/base/base_layout.h"
#include "server/sandbox/base/base_store.h"
#include "server/sandbox/base/current_base.h"
#include "server/sandbox/base/normalize.h"
#include "server/sandbox/base/program.h"
#include "server/sandbox/base/tree_listing.h"
#include "tests/support/test_support.h"

#include <QTemporaryDir>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/stat.h>

using namespace assay;
using namespace assay::sandbox;
namespace fs = std::filesystem;

class TestBaseStore : public QObject
{
    Q_OBJECT

private slots:
    void listsATreeCanonically();
    void everyPropertyIsInTheDigest();
    void specialFilesAreRefused();
    void withoutABaseItIsTheHost();
    void theNewestBaseIsSelected();
    void aBaseThatComesLaterIsTakenFromThenOn();
    void damagedManifestIsNeverReplacedByTheHost();
    void verifyNamesWhatDiffers();
    void halfMadeAndForeignFoldersAreNotListed();
    void infoRoundTrips();
    void normalizingRemovesWhatDiffers();
    void programsAreEnded();
    void missingProgramSaysWhatToInstall();

private:
    static void makeTree(const fs::path& root);
    /// Stores a small base by hand; returns its digest.
    static std::string storeBase(const fs::path& data, const std::string& content, const char* created);
};

void TestBaseStore::makeTree(const fs::path& root)
{
    fs::create_directories(root / "usr/bin");
    std::ofstream(root / "usr/bin/tool") << "abc";
    ::chmod((root / "usr").c_str(), 0755);
    ::chmod((root / "usr/bin").c_str(), 0755);
    ::chmod((root / "usr/bin/tool").c_str(), 0755);
    fs::create_symlink("usr/bin", root / "bin");
}

std::string TestBaseStore::storeBase(const fs::path& data, const std::string& content, const char* created)
{
    const fs::path fresh = data / "bases/.new";
    makeTree(fresh / "root");
    std::ofstream(fresh / "root/content") << content;
    const auto listing = base::listTree(fresh / "root", {}).value();
    const Digest digest = Digest::ofBytes(listing.text);
    std::ofstream(fresh / "manifest") << listing.text;
    const base::BaseInfo info{
        digest.text(), parseTimestamp(created).value(), listing.bytes, listing.entries, {"jq=1.7"}};
    std::ofstream(fresh / "info.json") << base::encodeInfo(info);
    fs::rename(fresh, data / "bases" / digest.hex());
    return digest.text();
}

void TestBaseStore::listsATreeCanonically()
{
    const QTemporaryDir folder;
    makeTree(folder.path().toStdString());
    const auto listing = base::listTree(folder.path().toStdString(), {});
    ASSAY_OK(listing);
    using namespace std::string_literals;
    QCOMPARE(listing->text, "assay-base-v1\n"
                            "bin\0l\0"s
                            "0000\0usr/bin\0\n"
                            "usr\0d\0"s
                            "0755\0\0\n"
                            "usr/bin\0d\0"s
                            "0755\0\0\n"
                            "usr/bin/tool\0f\0"s
                            "0755\0"s
                            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\0\n"s);
    QCOMPARE(listing->entries, 4U);
    QCOMPARE(listing->bytes, 3U);
}

void TestBaseStore::everyPropertyIsInTheDigest()
{
    const QTemporaryDir folder;
    const fs::path root = folder.path().toStdString();
    makeTree(root);
    std::set<std::string> seen{base::listTree(root, {})->text};
    const auto changed = [&] { return seen.insert(base::listTree(root, {})->text).second; };
    ::chmod((root / "usr/bin/tool").c_str(), 0644);
    QVERIFY(changed());
    std::ofstream(root / "usr/bin/tool") << "abd";
    QVERIFY(changed());
    fs::remove(root / "bin");
    fs::create_symlink("usr/sbin", root / "bin");
    QVERIFY(changed());
    fs::create_directory(root / "empty");
    QVERIFY(changed());
    fs::last_write_time(root / "usr/bin/tool", fs::file_time_type::clock::now() - std::chrono::hours(1));
    QVERIFY(!changed());
}

void TestBaseStore::specialFilesAreRefused()
{
    const QTemporaryDir folder;
    QCOMPARE(::mkfifo(folder.filePath("fifo").toStdString().c_str(), 0600), 0);
    ASSAY_FAILS(base::listTree(folder.path().toStdString(), {}), ErrorCode::InvalidArgument);
}

void TestBaseStore::withoutABaseItIsTheHost()
{
    const QTemporaryDir data;
    const auto selected = base::selectBase(data.path().toStdString());
    ASSAY_OK(selected);
    QCOMPARE(selected->digest, "host, unpinned");
    QVERIFY(selected->root.empty());
}

void TestBaseStore::theNewestBaseIsSelected()
{
    const QTemporaryDir data;
    const fs::path path = data.path().toStdString();
    const std::string newest = storeBase(path, "b", "2026-11-02T00:00:00Z");
    const std::string oldest = storeBase(path, "a", "2026-11-01T00:00:00Z");
    QCOMPARE(base::selectBase(path)->digest, newest);
    QVERIFY(fs::exists(base::selectBase(path)->root / "usr/bin/tool"));
    QCOMPARE(base::openBase(path, oldest)->digest, oldest);
    ASSAY_FAILS(base::openBase(path, Digest::ofBytes("no").text()), ErrorCode::NotFound);
    ASSAY_FAILS(base::openBase(path, "../../etc"), ErrorCode::InvalidArgument);
    QCOMPARE(base::listBases(path)->size(), 2U);
}

void TestBaseStore::aBaseThatComesLaterIsTakenFromThenOn()
{
    const QTemporaryDir folder;
    const fs::path data = folder.path().toStdString();
    base::CurrentBase current(data);
    QCOMPARE(current.get()->digest, std::string(base::kHostUnpinned));
    const auto first = storeBase(data, "first", "2026-01-01T00:00:00.000Z");
    QCOMPARE(current.get()->digest, first);
    QTest::qSleep(10); // the kernel's clock of files may tick that coarsely
    const auto second = storeBase(data, "second", "2026-01-02T00:00:00.000Z");
    QCOMPARE(current.get()->digest, second);
    QCOMPARE(current.get()->root, data / "bases" / second.substr(7) / "root");
    QTest::qSleep(10);
    const auto third = storeBase(data, "third", "2026-01-03T00:00:00.000Z");
    std::ofstream(data / "bases" / third.substr(7) / "manifest") << "damaged";
    ASSAY_FAILS(current.get(), ErrorCode::Unavailable);
    QTest::qSleep(10);
    fs::remove_all(data / "bases" / third.substr(7));
    QCOMPARE(current.get()->digest, second);
}

void TestBaseStore::damagedManifestIsNeverReplacedByTheHost()
{
    const QTemporaryDir data;
    const fs::path path = data.path().toStdString();
    const std::string digest = storeBase(path, "a", "2026-11-01T00:00:00Z");
    std::ofstream(path / "bases" / digest.substr(7) / "manifest", std::ios::app) << "x";
    ASSAY_FAILS(base::selectBase(path), ErrorCode::Unavailable);
}

void TestBaseStore::verifyNamesWhatDiffers()
{
    const QTemporaryDir data;
    const fs::path path = data.path().toStdString();
    const std::string digest = storeBase(path, "a", "2026-11-01T00:00:00Z");
    ASSAY_OK(base::verifyBase(path, digest, {}));
    std::ofstream(path / "bases" / digest.substr(7) / "root/usr/bin/tool") << "evil";
    const auto verified = base::verifyBase(path, digest, {});
    ASSAY_FAILS(verified, ErrorCode::Unavailable);
    QVERIFY2(verified.error().message.contains("usr/bin/tool"), verified.error().message.c_str());
}

void TestBaseStore::halfMadeAndForeignFoldersAreNotListed()
{
    const QTemporaryDir data;
    const fs::path path = data.path().toStdString();
    const std::string digest = storeBase(path, "a", "2026-11-01T00:00:00Z");
    fs::copy(path / "bases" / digest.substr(7), path / "bases/.new-1",
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    fs::copy(path / "bases" / digest.substr(7), path / "bases/other",
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    fs::create_directories(path / "bases/empty");
    QCOMPARE(base::listBases(path)->size(), 1U);
}

void TestBaseStore::infoRoundTrips()
{
    const base::BaseInfo info{Digest::ofBytes("x").text(),
                              parseTimestamp("2026-11-01T00:00:00.123Z").value(),
                              1ULL << 40,
                              7,
                              {"a=1", "b=2:3~4"}};
    const auto again = base::decodeInfo(base::encodeInfo(info));
    ASSAY_OK(again);
    QCOMPARE(again->digest, info.digest);
    QCOMPARE(again->createdAt, info.createdAt);
    QCOMPARE(again->sizeBytes, info.sizeBytes);
    QCOMPARE(again->packages, info.packages);
    for (const char* bad : {"", "{}", "[]", R"({"digest":1})",
                            R"({"created_at":"x","digest":"","files":0,"packages":[],"size_bytes":0})"})
        QVERIFY(!base::decodeInfo(bad));
}

void TestBaseStore::normalizingRemovesWhatDiffers()
{
    const QTemporaryDir folder;
    const fs::path root = folder.path().toStdString();
    makeTree(root);
    for (const char* name : {"etc", "var/log", "var/cache", "dev"})
        fs::create_directories(root / name);
    std::ofstream(root / "var/log/install.log") << "today";
    std::ofstream(root / "etc/machine-id") << "1234";
    std::ofstream(root / "etc/shadow") << "root:*:20000";
    fs::create_symlink("/etc/passwd", root / "etc/passwd");
    ::chmod((root / "usr/bin/tool").c_str(), 06755);
    ::mkfifo((root / "dev/initctl").c_str(), 0600);
    ::mkfifo((root / "usr/pipe").c_str(), 0600);
    ASSAY_OK(base::normalizeTree(root, {}));
    for (const char* gone : {"var/log/install.log", "etc/machine-id", "etc/shadow", "dev/initctl", "usr/pipe"})
        QVERIFY2(!fs::exists(root / gone), gone);
    struct stat info{};
    QCOMPARE(::stat((root / "usr/bin/tool").c_str(), &info), 0);
    QCOMPARE(info.st_mode & 07777, 0755U);
    QCOMPARE(info.st_mtim.tv_sec, base::kBaseTime);
    QVERIFY(!fs::is_symlink(root / "etc/passwd"));
    QVERIFY(readFile(root / "etc/passwd", 4096)->contains("box:x:10001"));
}

void TestBaseStore::programsAreEnded()
{
    const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    base::Program program{.argv = {"sh", "-c", "echo one; sleep 60"},
                          .environment = {"PATH=/usr/bin:/bin"},
                          .input = {},
                          .deadline = soon,
                          .cancel = {},
                          .onLine = {}};
    std::string lines;
    program.onLine = [&](std::string_view line) { lines += line; };
    const auto late = base::runProgram(program);
    ASSAY_FAILS(late, ErrorCode::Timeout);
    QCOMPARE(lines, "one");
    program.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    program.argv = {"sh", "-c", "cat; echo problem >&2; exit 3"};
    program.input = "given ";
    const auto failed = base::runProgram(program);
    ASSAY_FAILS(failed, ErrorCode::Unavailable);
    QVERIFY2(failed.error().detail.contains("given problem"), failed.error().detail.c_str());
}

void TestBaseStore::missingProgramSaysWhatToInstall()
{
    const base::Program program{.argv = {"no-such-program"},
                                .environment = {"PATH=/usr/bin"},
                                .input = {},
                                .deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5),
                                .cancel = {},
                                .onLine = {}};
    const auto failed = base::runProgram(program);
    ASSAY_FAILS(failed, ErrorCode::Unavailable);
    QVERIFY(failed.error().message.contains("install the package"));
}

QTEST_GUILESS_MAIN(TestBaseStore)
#include "tst_base_store.moc"
