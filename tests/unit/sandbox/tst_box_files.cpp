// SPDX-License-Identifier: Apache-2.0
// Files into the workspace and results out of it, against a workspace that a command has prepared to mislead.
#include "server/core/file_io.h"
#include "server/sandbox/box.h"
#include "tests/support/live_init.h"
#include "tests/support/test_support.h"

#include <QTemporaryDir>

#include <filesystem>
#include <sys/statvfs.h>

using namespace assay;
using namespace assay::test;
using namespace assay::sandbox;
namespace fs = std::filesystem;

class TestBoxFiles : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void placesFilesWithFoldersAndModes();
    void placesLargeFilesByteExact();
    void replacesButNeverWritesThroughWhatIsThere();
    void refusesPathsThatLeaveTheWorkspace();
    void collectsInPathOrder();
    void collectsOnlyWhatMatches();
    void neverFollowsALinkOutOfTheResults();
    void neverFollowsTheResultsFolderItself();
    void neverWaitsForSpecialFiles();
    void appliesTheLimits();
    void listsFoldersThatAreTooDeep();
    void collectsNothingWhereNothingIs();
    void stopsWhenTheTakerFails();
    void measuresTheFileSystem();
    void verifiesNothingWithoutPackages();

private:
    std::string collectAll(const std::vector<std::string>& globs, const CollectLimits& limits = {});
    void prepare(const std::string& script);
    fs::path at(const std::string& path) const { return fs::path(m_folder->path().toStdString()) / path; }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Box> m_box;
};

void TestBoxFiles::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    fs::create_directories(at("ws/out"));
    auto box =
        Box::open(LiveInit::bare(), {.limits = {.workspaceBytes = 0}},
                  {.workspace = at("ws").string(), .skills = at("skills").string(), .role = InitRole::Subreaper});
    ASSAY_OK(box);
    m_box = *std::move(box);
}

void TestBoxFiles::cleanup() { m_box.reset(); }

void TestBoxFiles::prepare(const std::string& script)
{
    Command command = shell(script);
    command.cwd = at("ws").string();
    RecordingSink sink;
    const auto result = m_box->run(command, sink, {});
    ASSAY_OK(result);
    QVERIFY2(result->exitCode == 0, sink.err.c_str());
}

/// "path=bytes path=bytes | path:reason": what was taken, what was refused.
std::string TestBoxFiles::collectAll(const std::vector<std::string>& globs, const CollectLimits& limits)
{
    std::string told;
    const auto refused = m_box->collect(globs, limits, [&](CollectedFile file) {
        told += file.path + "=" + file.bytes + " ";
        return Result<void>{};
    });
    if (!refused)
        return "failed: " + explain(refused).toStdString();
    told += "|";
    for (const RefusedOutput& one : *refused)
        told += " " + one.path + ":" + one.reason;
    return told;
}

void TestBoxFiles::placesFilesWithFoldersAndModes()
{
    const auto plain = m_box->putFile("a/b/plain.txt", "plain", false);
    ASSAY_OK(plain);
    const auto executable = m_box->putFile("run.sh", "#!/bin/sh\n", true);
    ASSAY_OK(executable);
    const auto empty = m_box->putFile("empty", "", false);
    ASSAY_OK(empty);
    QCOMPARE(readFile(at("ws/a/b/plain.txt"), 100).value(), "plain");
    QCOMPARE(readFile(at("ws/empty"), 100).value(), "");
    QCOMPARE(int(fs::status(at("ws/a/b/plain.txt")).permissions()), 0644);
    QCOMPARE(int(fs::status(at("ws/run.sh")).permissions()), 0755);
}

void TestBoxFiles::placesLargeFilesByteExact()
{
    std::string bytes(20'000'001, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>(i * 2654435761U >> 13);
    const auto put = m_box->putFile("out/large.bin", bytes, false);
    ASSAY_OK(put);
    QVERIFY(readFile(at("ws/out/large.bin"), 1 << 30).value() == bytes);
    std::string back;
    const auto refused = m_box->collect({"*.bin"}, {}, [&](CollectedFile file) {
        back = std::move(file.bytes);
        return Result<void>{};
    });
    ASSAY_OK(refused);
    QVERIFY(back == bytes);
}

void TestBoxFiles::replacesButNeverWritesThroughWhatIsThere()
{
    prepare(
        "echo outside > ../outside; ln -s ../outside link; ln ../outside hard; mkfifo fifo; mkdir folder; ln -s .. up");
    for (const char* name : {"link", "hard", "fifo"}) {
        const auto put = m_box->putFile(name, "new", false);
        ASSAY_OK(put);
        QVERIFY(fs::is_regular_file(fs::symlink_status(at("ws") / name)));
        QCOMPARE(readFile(at("ws") / name, 100).value(), "new");
    }
    QCOMPARE(readFile(at("outside"), 100).value(), "outside\n");
    const auto folder = m_box->putFile("folder", "new", false);
    ASSAY_FAILS(folder, ErrorCode::InvalidArgument);
    const auto up = m_box->putFile("up/escaped", "new", false);
    ASSAY_FAILS(up, ErrorCode::InvalidArgument);
    QVERIFY(!fs::exists(at("escaped")));
}

void TestBoxFiles::refusesPathsThatLeaveTheWorkspace()
{
    for (const std::string& bad : {std::string("../x"), std::string("/etc/x"), std::string("a/../../x"),
                                   std::string("."), std::string(), std::string("a//b"), std::string("a/"),
                                   std::string("a\0b", 3), std::string(256, 'n'), std::string(5000, 'n')}) {
        const auto put = m_box->putFile(bad, "x", false);
        ASSAY_FAILS(put, ErrorCode::InvalidArgument);
    }
    const auto fine = m_box->putFile("..x", "x", false);
    ASSAY_OK(fine);
}

void TestBoxFiles::collectsInPathOrder()
{
    prepare("cd out; mkdir -p b/c empty; printf 3 > b/c/z; printf 1 > a; printf 2 > b/a; printf 4 > c");
    QCOMPARE(collectAll({"**"}), "a=1 b/a=2 b/c/z=3 c=4 |");
}

void TestBoxFiles::collectsOnlyWhatMatches()
{
    prepare("cd out; mkdir r; printf 1 > r/x.json; printf 2 > y.json; printf 3 > z.txt; ln -s y.json l.txt");
    QCOMPARE(collectAll({"*.json"}), "y.json=2 |");
    QCOMPARE(collectAll({"r/*", "z.*"}), "r/x.json=1 z.txt=3 |");
    QCOMPARE(collectAll({}), "|");
    QVERIFY(collectAll({"../*"}).starts_with("failed: invalid_argument"));
}

void TestBoxFiles::neverFollowsALinkOutOfTheResults()
{
    prepare("echo secret > ../secret; cd out; ln -s ../../secret l; ln -s ../.. d; ln ../../secret hard; printf x > x");
    QCOMPARE(collectAll({"**"}), "hard=secret\n x=x | d:not_a_regular_file l:not_a_regular_file");
}

void TestBoxFiles::neverFollowsTheResultsFolderItself()
{
    prepare("echo secret > ../secret; rmdir out; ln -s .. out");
    QCOMPARE(collectAll({"**"}), "| .:not_a_regular_file");
    prepare("rm out; echo file > out");
    QCOMPARE(collectAll({"**"}), "| .:not_a_regular_file");
    prepare("rm out; mkfifo out");
    QCOMPARE(collectAll({"**"}), "| .:not_a_regular_file");
}

void TestBoxFiles::neverWaitsForSpecialFiles()
{
    prepare("cd out; mkfifo fifo; python3 -I -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'; printf "
            "x > x");
    QCOMPARE(collectAll({"**"}), "x=x | fifo:not_a_regular_file sock:not_a_regular_file");
}

void TestBoxFiles::appliesTheLimits()
{
    prepare("cd out; head -c 100 /dev/zero | tr '\\0' x > big; printf 1 > s1; printf 2 > s2; printf 3 > s3");
    QCOMPARE(collectAll({"**"}, {.files = 2, .fileBytes = 99, .totalBytes = 1000}),
             "s1=1 s2=2 | big:too_large s3:too_many_files");
    QCOMPARE(collectAll({"s*"}, {.files = 9, .fileBytes = 99, .totalBytes = 2}), "s1=1 s2=2 | s3:total_too_large");
}

void TestBoxFiles::listsFoldersThatAreTooDeep()
{
    prepare("cd out; python3 -I -c 'import os\nfor i in range(100):\n  os.mkdir(\"d\"); os.chdir(\"d\")\nopen(\"f\", "
            "\"w\")'; printf x > x");
    const std::string told = collectAll({"**"});
    QVERIFY2(told.starts_with("x=x | d/d/d/") && told.ends_with(":unsafe_path"), told.c_str());
}

void TestBoxFiles::collectsNothingWhereNothingIs()
{
    QCOMPARE(collectAll({"**"}), "|");
    prepare("rmdir out");
    QCOMPARE(collectAll({"**"}), "|");
}

void TestBoxFiles::stopsWhenTheTakerFails()
{
    prepare("cd out; printf 1 > a; printf 2 > b");
    int calls = 0;
    const auto refused = m_box->collect({"**"}, {}, [&](CollectedFile) {
        ++calls;
        return Result<void>(fail(ErrorCode::Unavailable, "the store is full"));
    });
    ASSAY_FAILS(refused, ErrorCode::Unavailable);
    QCOMPARE(calls, 1);
    QCOMPARE(collectAll({"a"}), "a=1 |");
}

void TestBoxFiles::measuresTheFileSystem()
{
    struct statvfs info{};
    QCOMPARE(::statvfs(at("ws").c_str(), &info), 0);
    const auto usage = m_box->measureWorkspace();
    ASSAY_OK(usage);
    const auto expected = static_cast<double>((info.f_blocks - info.f_bfree) * info.f_frsize);
    QVERIFY(std::abs(static_cast<double>(usage->usedBytes) - expected) < 0.1 * expected + 100e6);
    QCOMPARE(usage->limitBytes, 0U);
}

void TestBoxFiles::verifiesNothingWithoutPackages()
{
    const auto verified = m_box->verifyPackages();
    ASSAY_OK(verified);
    fs::create_directories(at("skills/stranger"));
    const auto refused = m_box->verifyPackages();
    ASSAY_FAILS(refused, ErrorCode::Refused);
}

QTEST_GUILESS_MAIN(TestBoxFiles)
#include "tst_box_files.moc"
