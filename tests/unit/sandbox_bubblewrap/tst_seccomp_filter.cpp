// SPDX-License-Identifier: Apache-2.0
#include "server/core/file_io.h"
#include "server/sandbox/seccomp/calls.h"
#include "server/sandbox/seccomp/filter.h"
#include "tests/support/test_support.h"

#include <algorithm>

using namespace assay;
using namespace assay::sandbox::seccomp;

class TestSeccompFilter : public QObject
{
    Q_OBJECT

private slots:
    void compilesToWholePrograms();
    void internetFamiliesMakeAnotherFilter();
    void theListsAreDisjoint();
    void everyRefusalIsDocumented();
};

void TestSeccompFilter::compilesToWholePrograms()
{
    const auto filter = compileFilter(Families::UnixOnly);
    ASSAY_OK(filter);
    for (const std::string& program : {filter->surface, filter->arguments}) {
        QVERIFY(!program.empty());
        QCOMPARE(program.size() % 8, 0U);     // sizeof(sock_filter)
        QVERIFY(program.size() <= 4096U * 8); // BPF_MAXINSNS
    }
}

void TestSeccompFilter::internetFamiliesMakeAnotherFilter()
{
    const auto closed = compileFilter(Families::UnixOnly);
    const auto open = compileFilter(Families::UnixAndInternet);
    ASSAY_OK(closed);
    ASSAY_OK(open);
    QVERIFY(closed->surface != open->surface);
    QVERIFY(closed->arguments != open->arguments);
    QCOMPARE(compileFilter(Families::UnixOnly)->surface, closed->surface);
}

void TestSeccompFilter::theListsAreDisjoint()
{
    for (const std::string_view call : allowedCalls()) {
        QVERIFY2(!std::ranges::contains(refusedCalls(), call), std::string(call).c_str());
        QCOMPARE(std::ranges::count(allowedCalls(), call), 1);
    }
    // These are allowed by rules on their arguments alone.
    for (const std::string_view call :
         {"socket", "socketpair", "clone", "clone3", "prlimit64", "personality", "sched_setaffinity", "ioctl"})
        QVERIFY(!std::ranges::contains(allowedCalls(), call) && !std::ranges::contains(refusedCalls(), call));
}

void TestSeccompFilter::everyRefusalIsDocumented()
{
    const auto page = readFile(ASSAY_SOURCE_DIR "/docs/box.md", 1U << 20);
    ASSAY_OK(page);
    QStringList words = QString::fromStdString(*page).split(QRegularExpression("[^a-z0-9_*]+"));
    for (const std::string_view call : refusedCalls()) {
        const auto name = QString::fromUtf8(call.data(), static_cast<qsizetype>(call.size()));
        const bool named = std::ranges::any_of(words, [&](const QString& word) {
            return word == name ||
                   (word.size() > 3 && word.contains('*') &&
                    QRegularExpression("^" + QString(word).replace("*", ".*") + "$").match(name).hasMatch());
        });
        QVERIFY2(named, qPrintable("docs/box.md gives no reason for " + name));
    }
}

QTEST_GUILESS_MAIN(TestSeccompFilter)
#include "tst_seccomp_filter.moc"
