// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/result_path.h"
#include "server/sandbox/results.h"
#include "tests/support/test_support.h"

using namespace assay;
using namespace assay::sandbox;
using channel::EntryKind;

class TestResults : public QObject
{
    Q_OBJECT

private slots:
    void takesRegularFilesThatMatch();
    void namesEachReason();
    void listsAtMostAThousandRefusals();
    void judgesPaths();
    void printsHostilePathsHarmlessly();
};

namespace {

TreeEntry entry(std::string path, EntryKind kind, std::uint64_t size = 1)
{
    return {std::move(path), kind, 0644, size, {}};
}

ResultSelection judge(std::vector<TreeEntry> entries, const std::string& glob = "**", const CollectLimits& limits = {})
{
    ResultSelection selection({Glob::parse(glob).value()}, limits);
    TreeListing listing;
    listing.entries = std::move(entries);
    selection.judge(listing);
    return selection;
}

} // namespace

void TestResults::takesRegularFilesThatMatch()
{
    auto selection = judge({entry("a.txt", EntryKind::File), entry("b", EntryKind::Directory),
                            entry("b/c.json", EntryKind::File), entry("b/link", EntryKind::Symlink)},
                           "**/*.json");
    QCOMPARE(selection.wanted().size(), 1U);
    QCOMPARE(selection.wanted()[0].path, "b/c.json");
    QVERIFY(selection.takeRefused().empty());
}

void TestResults::namesEachReason()
{
    CollectLimits limits{.files = 2, .fileBytes = 100, .totalBytes = 150};
    auto refused =
        judge({entry("a", EntryKind::File, 101), entry("b", EntryKind::Special), entry("c", EntryKind::Symlink),
               entry("d\n", EntryKind::File), entry("e", EntryKind::Unreadable), entry("f", EntryKind::TooDeep),
               entry("g", EntryKind::File, 100), entry("h", EntryKind::File, 51), entry("i", EntryKind::File, 50),
               entry("j", EntryKind::File, 0)},
              "**", limits)
            .takeRefused();
    std::string told;
    for (const RefusedOutput& one : refused)
        told += one.path + "=" + one.reason + " ";
    QCOMPARE(told, "a=too_large b=not_a_regular_file c=not_a_regular_file d\\x0a=unsafe_path e=unreadable "
                   "f=unsafe_path h=total_too_large j=too_many_files ");
}

void TestResults::listsAtMostAThousandRefusals()
{
    std::vector<TreeEntry> many;
    for (int i = 0; i < 3000; ++i)
        many.push_back(entry("l" + std::to_string(i), EntryKind::Symlink));
    const auto refused = judge(std::move(many)).takeRefused();
    QCOMPARE(refused.size(), 1001U);
    QCOMPARE(refused.back().path, "");
    QCOMPARE(refused.back().reason, "too_many_files");
}

void TestResults::judgesPaths()
{
    for (const char* good : {"a", "a/b c.txt", "\xc3\xa4/\xe6\x97\xa5.csv", "..a", "a;rm -rf"})
        QVERIFY2(isSafeResultPath(good), good);
    for (const std::string& bad : {std::string(), std::string("a\nb"), std::string("a\\b"), std::string("\xff"),
                                   std::string("a\xe2\x80\xae"
                                               "b"),
                                   std::string("\xef\xbb\xbf"
                                               "a"),
                                   std::string(513, 'a')})
        QVERIFY2(!isSafeResultPath(bad), bad.c_str());
}

void TestResults::printsHostilePathsHarmlessly()
{
    QCOMPARE(printablePath("a\x1b[31m\xff\xe2\x80\xae"), "a\\x1b[31m\\xff\\xe2\\x80\\xae");
    QCOMPARE(printablePath("\xc3\xa4"), "\xc3\xa4");
    QVERIFY(printablePath(std::string(100'000, 'x')).size() == 512);
}

QTEST_GUILESS_MAIN(TestResults)
#include "tst_results.moc"
