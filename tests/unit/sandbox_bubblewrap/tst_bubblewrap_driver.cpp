// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sandbox_bubblewrap/box_fixture.h"

using namespace assay;
using namespace assay::test;
using namespace assay::sandbox;

class TestBubblewrapDriver : public QObject
{
    Q_OBJECT

private slots:
    void probeFindsTheMachineReady();
    void runsACommandAsTheBoxUser();
    void showsPackagesReadOnly();

private:
    BoxFixture m_boxes;
};

void TestBubblewrapDriver::probeFindsTheMachineReady()
{
    const DriverStatus status = m_boxes.driver().probe();
    QVERIFY2(status.state == DriverState::Ready, (status.reason + " | " + status.remedy).c_str());
}

void TestBubblewrapDriver::runsACommandAsTheBoxUser()
{
    auto box = m_boxes.box();
    QCOMPARE(shellIn(*box, "id -u; id -g; hostname; pwd").output, "10001\n10001\nbox\n/workspace\n");
    ASSAY_OK(box->destroy());
}

void TestBubblewrapDriver::showsPackagesReadOnly()
{
    auto spec = m_boxes.spec();
    spec.packages.push_back(m_boxes.package("ticket-analysis", {{"SKILL.md", "# hello\n"}}));
    auto box = m_boxes.box(spec);
    QCOMPARE(shellIn(*box, "cat /skills/ticket-analysis/SKILL.md").output, "# hello\n");
    QVERIFY(!shellIn(*box, "echo x > /skills/ticket-analysis/x").exitedWith(0));
}

QTEST_GUILESS_MAIN(TestBubblewrapDriver)
#include "tst_bubblewrap_driver.moc"
