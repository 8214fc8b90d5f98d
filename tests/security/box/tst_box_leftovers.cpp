// SPDX-License-Identifier: Apache-2.0
#include "server/core/file_io.h"
#include "server/sandbox/bubblewrap/instance.h"
#include "tests/unit/sandbox_bubblewrap/box_fixture.h"

#include <QProcess>

#include <csignal>
#include <sys/socket.h>
#include <unistd.h>

using namespace assay;
using namespace assay::test;
using namespace assay::sandbox;

/// After a box, after many boxes, and after the death of their server nothing of them is left.
class TestBoxLeftovers : public QObject
{
    Q_OBJECT

private slots:
    void twoHundredBoxesLeaveNothing();
    void hundredAtOnceLeaveNothing();
    void destroyEndsWhatRuns();
    void killEndsTheBoxAtOnce();
    void killedServerTakesItsBoxesAlong();
    void reapRemovesOnlyItsOwn();
    void threadThatMadeABoxMayEnd();
    void noUserNamespacesMeansUnavailable();
    void anOrdinaryUserGetsTheSameBox();

private:
    /// Processes, mounts, control groups and descriptors that boxes of this test's driver hold.
    std::array<std::size_t, 4> held();
    static std::size_t mounts();
    static std::string instance(const QTemporaryDir& data)
    {
        return bubblewrap::instanceOf(data.path().toStdString()).value();
    }
    void startHolder(QProcess& holder, const QString& data, int boxes);

    BoxFixture m_boxes;
};

std::size_t TestBoxLeftovers::mounts()
{
    const auto text = readFile("/proc/self/mountinfo", 1U << 20).value_or("");
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

std::array<std::size_t, 4> TestBoxLeftovers::held()
{
    const std::string& mine = m_boxes.driver().instance();
    return {processesOf(mine), mounts(), controlGroupsOf(mine).size(), openDescriptors()};
}

void TestBoxLeftovers::twoHundredBoxesLeaveNothing()
{
    m_boxes.box().reset();
    const auto before = held();
    for (int i = 0; i < 200; ++i) {
        auto box = m_boxes.box();
        ASSAY_OK(box->destroy());
    }
    QVERIFY(held() == before);
}

void TestBoxLeftovers::hundredAtOnceLeaveNothing()
{
    const auto before = held();
    std::atomic<int> made = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 100; ++i)
            threads.emplace_back([&] {
                auto box = m_boxes.driver().create(m_boxes.spec());
                made +=
                    box.has_value() && shellIn(**box, "true").exitedWith(0) && (*box)->destroy().has_value() ? 1 : 0;
            });
    }
    QCOMPARE(made.load(), 100);
    QVERIFY(held() == before);
}

void TestBoxLeftovers::destroyEndsWhatRuns()
{
    auto box = m_boxes.box();
    const std::string request = [] {
        std::string words = std::string("sh\0-c\0setsid sleep 1234 & setsid sleep 1234 & exec sleep 1234\0", 63);
        const auto size = static_cast<std::uint32_t>(words.size());
        return std::string(reinterpret_cast<const char*>(&size), sizeof size) + words;
    }();
    QCOMPARE(::send(box->channel(), request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
    const std::string& mine = m_boxes.driver().instance();
    // bubblewrap, the init and three commands
    QVERIFY(eventually([&] { return processesOf(mine) == 5; }));
    ASSAY_OK(box->destroy());
    QCOMPARE(processesOf(mine), 0U);
}

void TestBoxLeftovers::killEndsTheBoxAtOnce()
{
    auto box = m_boxes.box();
    QElapsedTimer timer;
    timer.start();
    box->kill();
    QVERIFY(runIn(*box, {"true"}).lost);
    QVERIFY(timer.elapsed() < 1000);
    ASSAY_OK(box->destroy());
    ASSAY_OK(box->destroy());
}

void TestBoxLeftovers::startHolder(QProcess& holder, const QString& data, int boxes)
{
    holder.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    holder.start(
        QStringLiteral(ASSAY_BOX_HOLDER),
        {"hold", data, QString::fromStdString(m_boxes.options().initProgram.string()), QString::number(boxes)});
    QVERIFY(holder.waitForReadyRead(20'000));
    QCOMPARE(holder.readLine(), QByteArray("ready\n"));
}

void TestBoxLeftovers::killedServerTakesItsBoxesAlong()
{
    const QTemporaryDir data;
    QProcess holder;
    startHolder(holder, data.path(), 5);
    QCOMPARE(processesOf(instance(data)), 10U);
    ::kill(static_cast<pid_t>(holder.processId()), SIGKILL);
    QVERIFY(holder.waitForFinished());
    QVERIFY(eventually([&] { return processesOf(instance(data)) == 0; }));
    QVERIFY(!controlGroupsOf(instance(data)).empty());
    // The next server of this data directory clears what the kernel does not.
    auto options = m_boxes.options();
    options.dataDirectory = data.path().toStdString();
    auto next = bubblewrap::Driver::open(options);
    ASSAY_OK(next);
    const auto reaped = (*next)->reap();
    ASSAY_OK(reaped);
    QCOMPARE(*reaped, (std::vector<std::string>{"held_0", "held_1", "held_2", "held_3", "held_4"}));
    QVERIFY(controlGroupsOf(instance(data)).empty());
}

void TestBoxLeftovers::reapRemovesOnlyItsOwn()
{
    const QTemporaryDir data;
    QProcess stranger;
    startHolder(stranger, data.path(), 1);
    auto mine = m_boxes.box();
    const auto reaped = m_boxes.driver().reap();
    ASSAY_OK(reaped);
    QVERIFY(reaped->empty());
    QCOMPARE(shellIn(*mine, "echo alive").output, "alive\n");
    QCOMPARE(controlGroupsOf(instance(data)).size(), controlGroupsOf(m_boxes.driver().instance()).size());
    QCOMPARE(processesOf(instance(data)), 2U);
    stranger.closeWriteChannel();
    QVERIFY(stranger.waitForFinished());
    QVERIFY(controlGroupsOf(instance(data)).empty());
}

void TestBoxLeftovers::threadThatMadeABoxMayEnd()
{
    std::unique_ptr<BoxHandle> box;
    std::thread([&] { box = m_boxes.box(); }).join();
    QTest::qWait(50);
    QCOMPARE(shellIn(*box, "echo alive").output, "alive\n");
}

void TestBoxLeftovers::noUserNamespacesMeansUnavailable()
{
    const QTemporaryDir data;
    QProcess holder;
    holder.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    holder.start(QStringLiteral(ASSAY_BOX_HOLDER),
                 {"probe-without-userns", data.path(), QString::fromStdString(m_boxes.options().initProgram.string())});
    QVERIFY(holder.waitForFinished(20'000));
    const QList<QByteArray> lines = holder.readAllStandardOutput().split('\n');
    QCOMPARE(holder.exitCode(), 0);
    QCOMPARE(lines.at(0), QByteArray("unavailable"));
    QVERIFY2(lines.at(1).contains("user.max_user_namespaces is 0"), lines.at(1).constData());
    QVERIFY2(lines.at(2).contains("sysctl -w user.max_user_namespaces"), lines.at(2).constData());
    QCOMPARE(lines.at(3), QByteArray("driver_unavailable"));
}

void TestBoxLeftovers::anOrdinaryUserGetsTheSameBox()
{
    const QTemporaryDir data;
    // The build may lie where that user cannot go.
    const QString init = data.filePath("init");
    QVERIFY(QFile::copy(QString::fromStdString(m_boxes.options().initProgram.string()), init));
    QCOMPARE(::chown(data.path().toStdString().c_str(), 54321, 54321), 0);
    QProcess holder;
    holder.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    holder.start("setpriv", {"--reuid=54321", "--regid=54321", "--clear-groups", QStringLiteral(ASSAY_BOX_HOLDER),
                             "probe", data.path(), init});
    QVERIFY(holder.waitForFinished(20'000));
    // The probe inspects the box by the same list, whoever started it.
    const QByteArray output = holder.readAllStandardOutput();
    QVERIFY2(output.startsWith("ready\n"), output.constData());
}

QTEST_GUILESS_MAIN(TestBoxLeftovers)
#include "tst_box_leftovers.moc"
