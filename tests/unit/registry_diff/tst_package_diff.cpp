// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/registry_diff/diff_fixture.h"

using namespace assay;
using test::diffOf;
using test::Files;

class TestPackageDiff : public QObject
{
    Q_OBJECT

private slots:
    void equalPackagesHaveNoDifference();
    void tellsWhatHappenedToEachFile();
    void comparedWithNothingAllIsAdded();
    void aModeAloneIsAChange();
    void findsRenames_data();
    void findsRenames();
    void aRenameOfEqualBytesPrefersTheSameName();
    void binaryFilesHaveNoHunks();
    void numbersLinesOfBothSides();
    void contextIsAsAsked();
    void ignoresWhitespace();
    void onePathAlone();
    void tellsWhatIsTooLarge();
    void aFullAnswerOmitsAndSaysSo();
    void totalsAreSums();
};

namespace {

std::string statuses(const contract::PackageDiff& diff)
{
    std::string out;
    for (const auto& file : diff.files)
        out += (out.empty() ? "" : "; ") + file.status + " " + (file.oldPath.empty() ? "" : file.oldPath + " -> ") +
               file.path;
    return out;
}

std::string numbered(const std::string& word, int lines)
{
    std::string out;
    for (int i = 0; i < lines; ++i)
        out += word + " " + std::to_string(i) + "\n";
    return out;
}

const std::string kImage("\x89PNG\0\x01", 6);
const std::string kOtherImage("\x89PNG\0\x02\x03", 7);

} // namespace

void TestPackageDiff::equalPackagesHaveNoDifference()
{
    const Files one({{"a", "x"}, {"b", "y"}});
    const auto diff = diffOf(one, one);
    QVERIFY(diff.files.empty());
    QCOMPARE(diff.counts.files, 0U);
    QVERIFY(diff.counts.complete);
}

void TestPackageDiff::tellsWhatHappenedToEachFile()
{
    const Files before({{"a.md", "one\n"}, {"gone.md", "g\n"}, {"same.md", "s\n"}, {"run.sh", "echo\n"}});
    const Files after({{"a.md", "two\n"}, {"new.md", "something else\n"}, {"same.md", "s\n"}, {"run.sh", "echo\n"}},
                      {"run.sh"});
    const auto diff = diffOf(before, after);
    QCOMPARE(statuses(diff), "modified a.md; removed gone.md; added new.md; mode_only run.sh");
    QCOMPARE(diff.files[0].content, "text");
    QCOMPARE(diff.files[3].content, "same");
    QVERIFY(!diff.files[1].newSide && !diff.files[2].oldSide);
    QCOMPARE(diff.files[0].oldSide->sha256, Digest::ofBytes("one\n").text());
    QCOMPARE(diff.files[0].newSide->lines, std::optional<std::uint32_t>(1));
}

void TestPackageDiff::comparedWithNothingAllIsAdded()
{
    const Files after({{"a.md", "1\n2\n"}, {"empty", ""}, {"logo.png", kImage}});
    const auto diff = diffOf(Files({}), after);
    QCOMPARE(statuses(diff), "added a.md; added empty; added logo.png");
    QCOMPARE(test::unified(diff.files[0]), "@@ -0,0 +1,2 @@\n+1\n+2\n");
    QVERIFY(diff.files[1].hunks.empty());
    QCOMPARE(diff.files[1].content, "text");
    QCOMPARE(diff.files[2].content, "binary");
    QCOMPARE(diff.counts.additions, 2U);
}

void TestPackageDiff::aModeAloneIsAChange()
{
    const Files before({{"bin", "x"}}, {"bin"});
    const Files after({{"bin", "x"}});
    const auto diff = diffOf(before, after);
    QCOMPARE(statuses(diff), "mode_only bin");
    QVERIFY(diff.files[0].oldSide->executable && !diff.files[0].newSide->executable);
    QCOMPARE(diff.counts.modeOnly, 1U);
}

void TestPackageDiff::findsRenames_data()
{
    QTest::addColumn<QString>("before");
    QTest::addColumn<QString>("after");
    QTest::addColumn<QString>("expected");
    const QString text = QString::fromStdString(numbered("line", 10));
    QTest::newRow("equal bytes") << text << text << "renamed old -> renew 100";
    QTest::newRow("mostly equal") << text << text + "line 10\n" << "renamed old -> renew 89";
    QTest::newRow("half") << text << text.first(text.size() / 2 + 7) + QString(40, 'x') << "";
    QTest::newRow("nothing in common") << text << QString("other\n").repeated(12) << "";
    QTest::newRow("empty files") << "" << "" << "";
}

void TestPackageDiff::findsRenames()
{
    QFETCH(QString, before);
    QFETCH(QString, after);
    QFETCH(QString, expected);
    const auto diff = diffOf(Files({{"old", before.toStdString()}}), Files({{"renew", after.toStdString()}}));
    if (expected.isEmpty()) {
        QVERIFY2(diff.counts.renamed == 0 || diff.files[0].similarity.value_or(0) < 60, statuses(diff).c_str());
        return;
    }
    QCOMPARE(statuses(diff) + " " + std::to_string(diff.files[0].similarity.value_or(0)), expected.toStdString());
    QCOMPARE(diff.counts.renamed, 1U);
}

void TestPackageDiff::aRenameOfEqualBytesPrefersTheSameName()
{
    const Files before({{"a/x.py", "same\n"}, {"b/y.py", "same\n"}});
    const Files after({{"c/y.py", "same\n"}, {"d/x.py", "same\n"}});
    QCOMPARE(statuses(diffOf(before, after)), "renamed b/y.py -> c/y.py; renamed a/x.py -> d/x.py");
}

void TestPackageDiff::binaryFilesHaveNoHunks()
{
    const auto diff = diffOf(Files({{"logo.png", kImage}, {"was.txt", "text\n"}}),
                             Files({{"logo.png", kOtherImage}, {"was.txt", std::string("t\0", 2)}}));
    QCOMPARE(diff.files.size(), 2U);
    for (const auto& file : diff.files) {
        QCOMPARE(file.content, "binary");
        QVERIFY(file.hunks.empty());
        QCOMPARE(file.additions, std::optional<std::uint32_t>(0));
    }
    QCOMPARE(diff.files[0].newSide->mediaType, "image/png");
    QCOMPARE(diff.files[0].newSide->sizeBytes, 7U);
    QVERIFY(!diff.files[0].newSide->lines);
    QCOMPARE(diff.files[1].oldSide->kind, "text");
    QCOMPARE(diff.files[1].newSide->kind, "asset");
}

void TestPackageDiff::numbersLinesOfBothSides()
{
    const auto file = test::diffOfTexts("1\n2\n3\n4\n", "1\nnew\n2\n4\n");
    QCOMPARE(file.hunks.size(), 1U);
    std::string all;
    for (const auto& line : file.hunks[0].lines)
        all += std::to_string(line.oldLine) + ":" + std::to_string(line.newLine) + " ";
    QCOMPARE(all, "1:1 0:2 2:3 3:0 4:4 ");
    QCOMPARE(file.additions, std::optional<std::uint32_t>(1));
    QCOMPARE(file.deletions, std::optional<std::uint32_t>(1));
}

void TestPackageDiff::contextIsAsAsked()
{
    std::string before = numbered("line", 100);
    std::string after = before;
    after.replace(after.find("line 50"), 7, "LINE 50");
    for (const auto& [context, lines] : {std::pair{0U, 2U}, {1U, 4U}, {3U, 8U}, {10'000U, 101U}})
        QCOMPARE(test::diffOfTexts(before, after, {context, false, {}}).hunks.at(0).lines.size(), lines);
}

void TestPackageDiff::ignoresWhitespace()
{
    const auto file = test::diffOfTexts("a b\nc\n", "a  b \n\tc\n", {3, true, {}});
    QCOMPARE(file.status, "modified");
    QVERIFY(file.whitespaceOnly && file.hunks.empty());
    QCOMPARE(file.additions, std::optional<std::uint32_t>(0));
    QVERIFY(!test::diffOfTexts("a b\n", "a  b\n").whitespaceOnly);
}

void TestPackageDiff::onePathAlone()
{
    const std::string text = numbered("line", 10);
    const Files before({{"a", "1\n"}, {"old", text}});
    const Files after({{"a", "2\n"}, {"renew", text}});
    QCOMPARE(statuses(diffOf(before, after, {3, false, "a"})), "modified a");
    QCOMPARE(statuses(diffOf(before, after, {3, false, "old"})), "renamed old -> renew");
    QCOMPARE(statuses(diffOf(before, after, {3, false, "renew"})), "renamed old -> renew");
}

void TestPackageDiff::tellsWhatIsTooLarge()
{
    const std::string line(5U << 20, 'x');
    const std::string lines(60'000, '\n');
    const auto diff = diffOf(Files({{"lines", "a\n"}, {"long", line}}),
                             Files({{"lines", lines}, {"long", line + "y"}, {"new", lines}}));
    QCOMPARE(diff.files.size(), 3U);
    for (const auto& file : diff.files) {
        QCOMPARE(file.content, "too_large");
        QVERIFY(file.hunks.empty());
    }
    QCOMPARE(diff.files[0].newSide->lines, std::optional<std::uint32_t>(60'000));
    QVERIFY(!diff.files[0].additions && !diff.files[1].deletions);
    QCOMPARE(diff.files[2].additions, std::optional<std::uint32_t>(60'000)); // known without comparing
    QVERIFY(!diff.counts.complete);
}

void TestPackageDiff::aFullAnswerOmitsAndSaysSo()
{
    std::map<std::string, std::string> texts;
    for (int i = 0; i < 5; ++i)
        texts.emplace("file" + std::to_string(i), numbered("line", 100));
    const Files after(texts);
    const auto lines = diffOf(Files({}), after, {}, {.shownLines = 250});
    QCOMPARE(lines.files[1].content, "text");
    QCOMPARE(lines.files[2].content, "omitted");
    QCOMPARE(lines.files[2].additions, std::optional<std::uint32_t>(100));
    QCOMPARE(lines.counts.additions, 500U);
    QVERIFY(lines.counts.complete);

    std::map<std::string, std::string> others;
    for (int i = 0; i < 5; ++i)
        others.emplace("file" + std::to_string(i), numbered("other", 100));
    const auto bytes = diffOf(Files(others), after, {}, {.totalBytes = 4000});
    QCOMPARE(bytes.files[0].content, "text");
    QCOMPARE(bytes.files[4].content, "omitted");
    QVERIFY(!bytes.files[4].additions && !bytes.counts.complete);
    QCOMPARE(diffOf(Files(others), after, {3, false, "file4"}, {.totalBytes = 4000}).files.at(0).content, "text");
}

void TestPackageDiff::totalsAreSums()
{
    const Files before({{"a", "1\n"}, {"b", "1\n2\n"}, {"c", "c\n"}});
    const Files after({{"a", "1\n2\n3\n"}, {"b", "1\n"}, {"d", "d is not c\n"}});
    const auto diff = diffOf(before, after);
    QCOMPARE(diff.counts.files, 4U);
    QCOMPARE(diff.counts.modified, 2U);
    QCOMPARE(diff.counts.added, 1U);
    QCOMPARE(diff.counts.removed, 1U);
    QCOMPARE(diff.counts.additions, 3U);
    QCOMPARE(diff.counts.deletions, 2U);
}

QTEST_GUILESS_MAIN(TestPackageDiff)
#include "tst_package_diff.moc"
