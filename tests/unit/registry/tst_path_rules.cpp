// SPDX-License-Identifier: Apache-2.0
#include "server/registry/path_rules.h"
#include "server/registry/path_set.h"
#include "tests/unit/registry/package_fixture.h"

using namespace assay;
using namespace assay::registry;
using test::codesOf;
using test::joined;

class TestPathRules : public QObject
{
    Q_OBJECT

private slots:
    void keepsTheSharedVectors();
    void refusesUnsafePaths();
    void allowsOddButSafePaths();
    void refusesNamesThatAreNotUtf8();
    void storesPathsInNfc();
    void findsCollisionsAndConflicts();
    void showsAProblemsPathInUtf8();
};

namespace {

std::string verdict(std::string_view path)
{
    const JudgedPath judged = judgePath(path);
    if (!judged.code.empty())
        return judged.code;
    return lintWindowsPath(judged.path) ? "ok_with_lint_windows_path" : "ok";
}

std::string verdictOfSet(const std::vector<std::string>& paths)
{
    std::map<std::string, std::string> files{{"SKILL.md", test::kDemoSkill}};
    for (const std::string& path : paths)
        files.try_emplace(path, "x");
    const auto result = test::validate(files);
    return result ? "ok" : result.error().problems.front().code;
}

} // namespace

void TestPathRules::keepsTheSharedVectors()
{
    const json::value all = test::vectors("paths.json");
    if (all.is_null())
        QSKIP("this machine has no shared vectors; set ASSAY_VECTORS");
    for (const json::value& item : all.at("paths").as_array())
        QCOMPARE(verdict(std::string_view(item.at("path").as_string())) + ' ' +
                     std::string(item.at("path").as_string()),
                 std::string(item.at("verdict").as_string()) + ' ' + std::string(item.at("path").as_string()));
    for (const json::value& item : all.at("sets").as_array())
        QCOMPARE(verdictOfSet(json::value_to<std::vector<std::string>>(item.at("paths"))),
                 std::string(item.at("verdict").as_string()));
}

void TestPathRules::refusesUnsafePaths()
{
    for (const char* path :
         {"",          "/a",   "a/",     "a//b",     "..",       "a/../b", ".",        "C:/x",
          "x/c:y",     "a\\b", "a\nb",   "a\u0085b", "a\u202eb", "CON",    "con .txt", "x/NUL.tar.gz",
          "com\u00b2", "LPT9", "conin$", "name.",    "dir /x",   "a\u200d"})
        QVERIFY2(verdict(path) == "unsafe_path", path);
    QCOMPARE(verdict(std::string("a\0b", 3)), "unsafe_path");
    QCOMPARE(verdict(std::string(256, 'a')), "unsafe_path");
    QCOMPARE(verdict(std::string(100000, 'a')), "unsafe_path");
    QCOMPARE(verdict(".Assay/x"), "reserved_path");
    QVERIFY(judgePath(std::string(256, 'a')).message.contains("255"));
}

void TestPathRules::allowsOddButSafePaths()
{
    for (const char* path :
         {"...", "x..y", ".gitignore", "com0", "com10", "lpt", "console", "a b/c", "sub/.assay", "\u65e5\u672c"})
        QVERIFY2(verdict(path) == "ok", path);
    QCOMPARE(verdict("a?b"), "ok_with_lint_windows_path");
}

void TestPathRules::refusesNamesThatAreNotUtf8()
{
    const JudgedPath judged = judgePath("caf\xe9.txt");
    QCOMPARE(judged.code, "unsafe_path");
    QVERIFY(judged.message.contains("\\xe9"));
}

void TestPathRules::storesPathsInNfc()
{
    QCOMPARE(judgePath("re\u0301sume\u0301").path, "r\u00e9sum\u00e9");
    QCOMPARE(verdict(std::string(170, 'a') + std::string("e\u0301") + std::string(83, 'a')), "ok");
}

void TestPathRules::findsCollisionsAndConflicts()
{
    QCOMPARE(verdictOfSet({"a.md", "A.md"}), "duplicate_path");
    QCOMPARE(verdictOfSet({"stra\u00dfe", "STRASSE"}), "duplicate_path");
    QCOMPARE(verdictOfSet({"a", "a/b/c"}), "path_conflict");
    QCOMPARE(verdictOfSet({"\u00c9", "e\u0301/b"}), "path_conflict");
    QCOMPARE(verdictOfSet({"a", "ab/c", "a-b"}), "ok");
    PathSet set;
    ProblemList problems;
    set.addFile("a", problems);
    set.checkFolder("b", problems);
    QVERIFY(problems.isEmpty());
    set.checkFolder("A", problems);
    QCOMPARE(joined(codesOf(problems.take())), "path_conflict");
}

void TestPathRules::showsAProblemsPathInUtf8()
{
    QCOMPARE(shownPath("a\xff"), "a\\xff");
    QVERIFY(shownPath(std::string(5000, 'a')).size() < 700);
    QCOMPARE(inQuotes("a\u202e\n"), "\"a\\u202e\\u000a\"");
}

QTEST_APPLESS_MAIN(TestPathRules)
#include "tst_path_rules.moc"
