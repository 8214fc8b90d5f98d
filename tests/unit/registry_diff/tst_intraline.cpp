// SPDX-License-Identifier: Apache-2.0
#include "server/registry/diff/line_pairs.h"
#include "tests/unit/registry_diff/diff_fixture.h"

using namespace assay;
using contract::DiffLine;
using contract::TextRange;

class TestIntraline : public QObject
{
    Q_OBJECT

private slots:
    void marksWords_data();
    void marksWords();
    void countsCodePointsAndUtf16Units();
    void neverSplitsACharacterThatAReaderSees();
    void pairsLinesThatBecameEachOther();
    void aLineEndAloneHasNoMarks();
    void ignoredBlanksAreNotMarked();
    void longLinesAreCutAndStayWithoutMarks();
    void tokensCoverTheWholeLine();
};

namespace {

/// The marked parts of a line, in brackets.
std::string shown(const DiffLine& line)
{
    const QString text = QString::fromStdString(line.text);
    QString out;
    qsizetype at = 0;
    for (const TextRange& range : line.changed) {
        out += text.mid(at, range.startUtf16 - at) + '[' + text.mid(range.startUtf16, range.lengthUtf16) + ']';
        at = range.startUtf16 + range.lengthUtf16;
    }
    return (out + text.mid(at)).toStdString();
}

std::vector<DiffLine> linesOf(const std::string& before, const std::string& after,
                              const contract::DiffOptions& options = {})
{
    const auto file = test::diffOfTexts(before, after, options);
    return file.hunks.empty() ? std::vector<DiffLine>{} : file.hunks.front().lines;
}

} // namespace

void TestIntraline::marksWords_data()
{
    QTest::addColumn<QString>("before");
    QTest::addColumn<QString>("after");
    QTest::addColumn<QString>("shownBefore");
    QTest::addColumn<QString>("shownAfter");
    QTest::newRow("a word") << "return first_value;" << "return second_value;" << "return [first_value];"
                            << "return [second_value];";
    QTest::newRow("an insertion") << "call(a, b)" << "call(a, b, c)" << "call(a, b)" << "call(a, b[, c])";
    QTest::newRow("blanks between are one mark")
        << "the quick brown fox" << "the slow red fox" << "the [quick brown] fox" << "the [slow red] fox";
    QTest::newRow("indentation") << "  stays the same" << "    stays the same" << "[  ]stays the same"
                                 << "[    ]stays the same";
    QTest::newRow("tabs") << "\tstays the same" << "  stays the same" << "[\t]stays the same" << "[  ]stays the same";
    QTest::newRow("all new") << "nothing in common" << "0000" << "nothing in common" << "0000";
    QTest::newRow("at the end") << "one two three" << "one two four" << "one two [three]" << "one two [four]";
    QTest::newRow("punctuation") << "a.b(c);" << "a.b(c)" << "a.b(c)[;]" << "a.b(c)";
    QTest::newRow("ideographs one by one")
        << "\u65e5\u672c\u8a9e" << "\u65e5\u672c\u4eba" << "\u65e5\u672c[\u8a9e]" << "\u65e5\u672c[\u4eba]";
    QTest::newRow("accented words") << "le caf\u00e9 noir" << "le caf\u00e9s noir" << "le [caf\u00e9] noir"
                                    << "le [caf\u00e9s] noir";
}

void TestIntraline::marksWords()
{
    QFETCH(QString, before);
    QFETCH(QString, after);
    QFETCH(QString, shownBefore);
    QFETCH(QString, shownAfter);
    const auto lines = linesOf(before.toStdString() + "\n", after.toStdString() + "\n");
    QCOMPARE(lines.size(), 2U);
    QCOMPARE(shown(lines[0]), shownBefore.toStdString());
    QCOMPARE(shown(lines[1]), shownAfter.toStdString());
}

void TestIntraline::countsCodePointsAndUtf16Units()
{
    // U+1F600 is one code point, two UTF-16 units and four bytes.
    const auto lines = linesOf("say \xF0\x9F\x98\x80 old word\n", "say \xF0\x9F\x98\x80 new word\n");
    QCOMPARE(lines.size(), 2U);
    const std::vector<TextRange> expected{{6, 3, 7, 3}};
    QVERIFY(lines[0].changed == expected);
    QVERIFY(lines[1].changed == expected);
}

void TestIntraline::neverSplitsACharacterThatAReaderSees()
{
    // e + combining acute against e + combining grave: the mark holds the letter too.
    const auto accents = linesOf("some word e\xCC\x81 here\n", "some word e\xCC\x80 here\n");
    QVERIFY((accents[0].changed == std::vector<TextRange>{{10, 2, 10, 2}}));
    // A family of three, joined by U+200D, becomes one of two.
    const std::string three = "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7";
    const std::string two = "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9";
    const auto family = linesOf("some words here " + three + "\n", "some words here " + two + "\n");
    QVERIFY((family[0].changed == std::vector<TextRange>{{16, 5, 16, 8}}));
    QVERIFY((family[1].changed == std::vector<TextRange>{{16, 3, 16, 5}}));
}

void TestIntraline::pairsLinesThatBecameEachOther()
{
    const auto lines = linesOf("alpha beta gamma\ndelta epsilon zeta\n",
                               "something else entirely\nalpha beta GAMMA\nwholly new line\ndelta EPSILON zeta\n");
    std::vector<std::string> all;
    for (const DiffLine& line : lines)
        all.push_back(shown(line));
    const std::vector<std::string> expected{"alpha beta [gamma]", "delta [epsilon] zeta", "something else entirely",
                                            "alpha beta [GAMMA]", "wholly new line",      "delta [EPSILON] zeta"};
    QCOMPARE(all, expected);
}

void TestIntraline::aLineEndAloneHasNoMarks()
{
    const auto lines = linesOf("same text\r\nend", "same text\nend\n");
    QCOMPARE(lines.size(), 4U);
    for (const DiffLine& line : lines)
        QVERIFY(line.changed.empty());
    QCOMPARE(lines[0].text, "same text");
    QVERIFY(lines[0].end == contract::LineEnd::Crlf);
    QVERIFY(lines[1].end == contract::LineEnd::None);
    QVERIFY(lines[2].end == contract::LineEnd::Lf && lines[3].end == contract::LineEnd::Lf);
}

void TestIntraline::ignoredBlanksAreNotMarked()
{
    const auto lines = linesOf("a  b   old\n", "a b new\n", {3, true, {}});
    QCOMPARE(lines.size(), 2U);
    QCOMPARE(shown(lines[0]), "a  b   [old]");
    QCOMPARE(shown(lines[1]), "a b [new]");
}

void TestIntraline::longLinesAreCutAndStayWithoutMarks()
{
    std::string text(4095, 'a');
    text += "\xC3\xA9 tail";
    const auto lines = linesOf(text + "\n", text + "!\n");
    QCOMPARE(lines.size(), 2U);
    QCOMPARE(lines[0].text, std::string(4095, 'a')); // not half a character
    QCOMPARE(lines[0].cutBytes, 7U);
    QCOMPARE(lines[1].cutBytes, 8U);
    QVERIFY(lines[0].changed.empty() && lines[1].changed.empty());
}

void TestIntraline::tokensCoverTheWholeLine()
{
    for (const std::string& text :
         {std::string(), std::string("a b"), std::string("\t x\xCC\x81y \xE6\x97\xA5\xE6\x9C\xAC"),
          std::string("\xCC\x81starts with a mark"), std::string("\r\x01\x7f")}) {
        std::size_t at = 0;
        for (const auto& token : registry::diff::tokensOf(text)) {
            QCOMPARE(token.start, at);
            QVERIFY(token.size > 0);
            at += token.size;
        }
        QCOMPARE(at, text.size());
    }
}

QTEST_GUILESS_MAIN(TestIntraline)
#include "tst_intraline.moc"
