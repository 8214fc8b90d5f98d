// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/glob.h"
#include "tests/support/test_support.h"

#include <QElapsedTimer>

using namespace assay;
using namespace assay::sandbox;

class TestGlob : public QObject
{
    Q_OBJECT

private slots:
    void matchesPaths_data();
    void matchesPaths();
    void refusesPatternsThatLeaveTheFolder();
    void staysFastOnHostilePatterns();
};

void TestGlob::matchesPaths_data()
{
    QTest::addColumn<QByteArray>("pattern");
    QTest::addColumn<QByteArray>("path");
    QTest::addColumn<bool>("matches");
    const struct
    {
        const char* pattern;
        const char* path;
        bool matches;
    } rows[] = {
        {"**", "a", true},
        {"**", "a/b/c", true},
        {"*", "a", true},
        {"*", "a/b", false},
        {"*.json", "a.json", true},
        {"*.json", "x/a.json", false},
        {"**/*.json", "a.json", true},
        {"**/*.json", "x/y/a.json", true},
        {"a/**", "a", true},
        {"a/**", "a/b/c", true},
        {"a/**", "b/a", false},
        {"a/**/z", "a/z", true},
        {"a/**/z", "a/b/c/z", true},
        {"a/**/z", "a/b/c", false},
        {"r?port", "report", true},
        {"r?port", "r/port", false},
        {"report", "reports", false},
        {"*a*b", "xaxbxb", true},
        {"*a*b", "xbxa", false},
        {"**/**", "a", true},
        {"[ab]", "a", false},
        {"[ab]", "[ab]", true},
        {"a/*/c", "a/b/c", true},
        {"a/*/c", "a/c", false},
    };
    for (const auto& row : rows)
        QTest::addRow("%s on %s", row.pattern, row.path)
            << QByteArray(row.pattern) << QByteArray(row.path) << row.matches;
}

void TestGlob::matchesPaths()
{
    QFETCH(QByteArray, pattern);
    QFETCH(QByteArray, path);
    auto glob = Glob::parse(pattern.toStdString());
    ASSAY_OK(glob);
    QTEST(glob->matches(path.toStdString()), "matches");
}

void TestGlob::refusesPatternsThatLeaveTheFolder()
{
    for (const std::string& bad :
         {std::string(), std::string("/etc/*"), std::string("../x"), std::string("a/../b"), std::string("a//b"),
          std::string("./a"), std::string("a/"), std::string(513, 'a'), [] {
              std::string deep = "a";
              for (int i = 0; i < 64; ++i)
                  deep += "/a";
              return deep;
          }()})
        ASSAY_FAILS(Glob::parse(bad), ErrorCode::InvalidArgument);
}

void TestGlob::staysFastOnHostilePatterns()
{
    std::string pattern;
    for (int i = 0; i < 250; ++i)
        pattern += "*a";
    std::string stars = "**";
    for (int i = 0; i < 60; ++i)
        stars += "/**";
    std::string path(500, 'a');
    std::string deep = "x";
    for (int i = 0; i < 200; ++i)
        deep += "/x";
    QElapsedTimer timer;
    timer.start();
    QVERIFY(!Glob::parse(pattern + "b").value().matches(path));
    QVERIFY(!Glob::parse(stars + "/y").value().matches(deep));
    QVERIFY2(timer.elapsed() < 500, qPrintable(QString::number(timer.elapsed())));
}

QTEST_GUILESS_MAIN(TestGlob)
#include "tst_glob.moc"
