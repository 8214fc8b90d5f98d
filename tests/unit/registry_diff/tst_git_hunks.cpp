// SPDX-License-Identifier: Apache-2.0
// Hunks are those of `git diff`, on edits that people make and on edits that nobody makes.
#include "tests/unit/registry_diff/diff_fixture.h"

#include <QDir>
#include <QProcess>
#include <QTemporaryDir>

#include <random>

using namespace assay;

class TestGitHunks : public QObject
{
    Q_OBJECT

private slots:
    void generatedEditsHaveGitsHunks_data();
    void generatedEditsHaveGitsHunks();
    void thisProjectsHistoryHasGitsHunks();
};

namespace {

QByteArray git(const QStringList& arguments, const QString& folder)
{
    QProcess process;
    process.setWorkingDirectory(folder);
    process.start("git", QStringList{"-c", "core.autocrlf=false", "-c", "core.pager=cat"} + arguments);
    if (!process.waitForFinished(60'000))
        return "git did not end";
    return process.readAllStandardOutput();
}

void write(const QString& path, const std::string& text)
{
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    if (file.open(QIODevice::WriteOnly))
        file.write(text.data(), qsizetype(text.size()));
}

/// What `git diff --no-index` says of each pair, by file name, from the first hunk on.
std::map<std::string, std::string> gitsHunks(const std::vector<std::pair<std::string, std::string>>& pairs,
                                             const QStringList& options)
{
    const QTemporaryDir dir;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        write(dir.filePath(QString("a/%1").arg(i, 4, 10, QChar('0'))), pairs[i].first);
        write(dir.filePath(QString("b/%1").arg(i, 4, 10, QChar('0'))), pairs[i].second);
    }
    const std::string all = git(QStringList{"diff", "--no-index", "--no-ext-diff", "--no-color", "--text",
                                            "--no-renames", "--diff-algorithm=myers"} +
                                    options + QStringList{"a", "b"},
                                dir.path())
                                .toStdString();
    std::map<std::string, std::string> out;
    std::string name;
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t end = std::min(all.find('\n', at), all.size() - 1) + 1;
        const std::string line = all.substr(at, end - at);
        at = end;
        if (line.starts_with("diff --git ")) {
            name = line.substr(line.rfind('/') + 1, 4);
        } else if (line.starts_with("@@") || !out[name].empty()) {
            out[name] += line;
        }
    }
    return out;
}

const std::vector<std::string> kLines{"",
                                      "def run(ticket):",
                                      "    return ticket.answer",
                                      "# Heading",
                                      "}",
                                      "    }",
                                      "text with  two blanks",
                                      "\ttab\tseparated\t",
                                      "crlf line\r",
                                      "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E and e\xCC\x81",
                                      "- item",
                                      "function heading() {"};

std::string anyLine(std::mt19937& random)
{
    std::string line = kLines[random() % kLines.size()];
    if (random() % 3 == 0)
        line += " " + std::to_string(random() % 40);
    return line;
}

std::vector<std::string> anyText(std::mt19937& random, std::size_t lines)
{
    std::vector<std::string> out;
    for (std::size_t i = 0; i < lines; ++i)
        out.push_back(anyLine(random));
    return out;
}

std::vector<std::string> edited(std::vector<std::string> text, std::mt19937& random, std::size_t edits)
{
    for (std::size_t i = 0; i < edits; ++i) {
        const auto at = text.begin() + static_cast<std::ptrdiff_t>(random() % (text.size() + 1));
        switch (random() % 5) {
        case 0:
            text.insert(at, anyLine(random));
            break;
        case 1:
            if (at != text.end())
                text.erase(at);
            break;
        case 2:
            if (at != text.end())
                *at += " more";
            break;
        case 3:
            if (at != text.end())
                at->insert(0, "  ");
            break;
        default: {
            const auto some = anyText(random, random() % 6);
            text.insert(at, some.begin(), some.end());
        }
        }
    }
    return text;
}

std::string joined(const std::vector<std::string>& lines, bool ends)
{
    std::string out;
    for (const std::string& line : lines)
        out += line + "\n";
    if (!ends && !out.empty())
        out.pop_back();
    return out;
}

/// git prints what the older side has of a context line; with blanks ignored ours is the newer one's. Compare the form.
std::string withoutContext(const std::string& text)
{
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        out += text[at] == ' ' ? std::string(" \n") : text.substr(at, end - at);
        at = end;
    }
    return out;
}

} // namespace

void TestGitHunks::generatedEditsHaveGitsHunks_data()
{
    QTest::addColumn<int>("context");
    QTest::addColumn<bool>("ignore");
    for (const int context : {0, 1, 3, 25})
        for (const bool ignore : {false, true})
            QTest::addRow("context %d%s", context, ignore ? ", blanks ignored" : "") << context << ignore;
}

void TestGitHunks::generatedEditsHaveGitsHunks()
{
    QFETCH(int, context);
    QFETCH(bool, ignore);
    std::mt19937 random(20261130);
    std::vector<std::pair<std::string, std::string>> pairs;
    for (std::size_t i = 0; i < 150; ++i) {
        const auto before = anyText(random, random() % (i < 100 ? 40 : 400));
        const auto after = edited(before, random, 1 + random() % 12);
        pairs.emplace_back(joined(before, random() % 4 != 0), joined(after, random() % 4 != 0));
    }
    QStringList options{QString("-U%1").arg(context)};
    if (ignore)
        options << "-w";
    auto expected = gitsHunks(pairs, options);
    std::size_t compared = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto diff =
            test::diffOfTexts(pairs[i].first, pairs[i].second, {static_cast<std::uint32_t>(context), ignore, {}});
        std::string name = std::to_string(i);
        name.insert(0, 4 - name.size(), '0');
        std::string ours = test::unified(diff);
        std::string theirs = expected[name];
        if (ignore) {
            ours = withoutContext(ours);
            theirs = withoutContext(theirs);
        }
        QVERIFY2(ours == theirs, ("pair " + name + "\n" + ours + "-----\n" + theirs).c_str());
        compared += ours.empty() ? 0 : 1;
    }
    QVERIFY(compared > 100);
}

// The checkout's own commits are what people really did to text and code.
void TestGitHunks::thisProjectsHistoryHasGitsHunks()
{
    const QString source = QStringLiteral(ASSAY_SOURCE_DIR);
    const QList<QByteArray> commits = git({"log", "-40", "--format=%H", "--no-merges"}, source).split('\n');
    if (commits.size() < 3)
        QSKIP("this is not a checkout with a history");
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const QByteArray& commit : commits) {
        const QString id = QString::fromLatin1(commit);
        for (const QByteArray& path :
             git({"diff", "--name-only", "--diff-filter=M", id + "~1", id}, source).split('\n')) {
            if (path.isEmpty() || pairs.size() >= 300)
                continue;
            const QByteArray before = git({"show", id + "~1:" + path}, source);
            const QByteArray after = git({"show", id + ":" + path}, source);
            if (!before.contains('\0') && !after.contains('\0') && before != after)
                pairs.emplace_back(before.toStdString(), after.toStdString());
        }
    }
    auto expected = gitsHunks(pairs, {"-U3"});
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        std::string name = std::to_string(i);
        name.insert(0, 4 - name.size(), '0');
        const std::string ours = test::unified(test::diffOfTexts(pairs[i].first, pairs[i].second));
        QVERIFY2(ours == expected[name], (ours + "-----\n" + expected[name]).c_str());
    }
    qInfo("%zu files compared", pairs.size());
}

QTEST_GUILESS_MAIN(TestGitHunks)
#include "tst_git_hunks.moc"
