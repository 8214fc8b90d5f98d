// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/output_capture.h"
#include "tests/support/test_support.h"

#include <random>

using namespace assay;
using namespace assay::sandbox;

class TestOutputCapture : public QObject
{
    Q_OBJECT

private slots:
    void keepsEverythingUpToTheCap();
    void keepsFirstQuarterAndLastThreeAboveTheCap();
    void showsLiveReadersOnlyWhatIsBelowTheCap();
    void agreesWithAPlainModel();
    void keepsNothingWithACapOfNothing();
};

void TestOutputCapture::keepsEverythingUpToTheCap()
{
    OutputCapture capture(8);
    capture.add("abc");
    capture.add("defgh");
    QVERIFY(!capture.isOverCap());
    const CapturedOutput kept = capture.take();
    QCOMPARE(kept.head + kept.tail, "abcdefgh");
    QCOMPARE(kept.droppedBytes(), 0U);
}

void TestOutputCapture::keepsFirstQuarterAndLastThreeAboveTheCap()
{
    OutputCapture capture(8);
    capture.add("0123456789abc");
    QVERIFY(capture.isOverCap());
    const CapturedOutput kept = capture.take();
    QCOMPARE(kept.head, "01");
    QCOMPARE(kept.tail, "789abc");
    QCOMPARE(kept.totalBytes, 13U);
    QCOMPARE(kept.droppedBytes(), 5U);
}

void TestOutputCapture::showsLiveReadersOnlyWhatIsBelowTheCap()
{
    OutputCapture capture(8);
    QCOMPARE(capture.add("012345"), "012345");
    QCOMPARE(capture.add("6789"), "67");
    QCOMPARE(capture.add("x"), "");
}

void TestOutputCapture::agreesWithAPlainModel()
{
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        const std::uint64_t cap = random() % 60;
        OutputCapture capture(cap);
        std::string all;
        for (std::size_t pieces = random() % 12; pieces > 0; --pieces) {
            std::string piece(random() % 40, ' ');
            for (char& c : piece)
                c = static_cast<char>('a' + random() % 26);
            capture.add(piece);
            all += piece;
        }
        const CapturedOutput kept = capture.take();
        const std::size_t head = std::min<std::size_t>(cap / 4, all.size());
        const std::size_t tail = std::min<std::size_t>(cap - cap / 4, all.size() - head);
        QCOMPARE(kept.head, all.substr(0, head));
        QCOMPARE(kept.tail, all.substr(all.size() - tail));
        QCOMPARE(kept.totalBytes, all.size());
    }
}

void TestOutputCapture::keepsNothingWithACapOfNothing()
{
    OutputCapture capture(0);
    QCOMPARE(capture.add("abc"), "");
    const CapturedOutput kept = capture.take();
    QVERIFY(kept.head.empty() && kept.tail.empty());
    QCOMPARE(kept.droppedBytes(), 3U);
}

QTEST_GUILESS_MAIN(TestOutputCapture)
#include "tst_output_capture.moc"
