// SPDX-License-Identifier: Apache-2.0
#include "server/runs/comparison_report.h"
#include "tests/support/test_support.h"

using namespace assay;
using runs::compareRuns;
using runs::diffJson;

class TestComparisonReport : public QObject
{
    Q_OBJECT

private slots:
    void equalRunsAreEqual();
    void tellsJsonDifferencesByPointer();
    void differencesAreBounded();
    void droppedOutputIsNeverEqual();
    void pairsResultsByPath();
    void isRunningUntilBothHaveEnded();
    void anotherExitDiffers();
};

namespace {

const Timestamp kTime{std::chrono::milliseconds(1'795'000'000'000)};

contract::Run run(const std::string& output, int exitCode = 0)
{
    contract::CommandResult command{.id = "cmd_1", .state = "ended", .exitCode = exitCode, .termination = "exited"};
    command.stdoutBytes = output;
    command.stdoutTotal = output.size();
    contract::Run out;
    out.id = "run_1";
    out.state = exitCode == 0 ? "succeeded" : "failed";
    out.commands = {command};
    out.endedAt = kTime;
    return out;
}

contract::Artifact artifact(const std::string& path, const std::string& content)
{
    return {"art_1", "run_1", path, Digest::ofBytes(content).text(), content.size(), "text/plain", kTime};
}

} // namespace

void TestComparisonReport::equalRunsAreEqual()
{
    const auto report = compareRuns({.id = "cmp_1", .skill = "demo"}, run("hi\n"), run("hi\n"));
    QCOMPARE(report.state, "ended");
    QVERIFY(report.equal && report.standardOutput.equal && !report.standardOutput.bothJson);
}

void TestComparisonReport::tellsJsonDifferencesByPointer()
{
    const auto report = compareRuns({}, run(R"({"a": 1, "b": [1, {"c/d": null}], "gone": true})"),
                                    run(R"({"a": 1.0, "b": [1, {"c/d": "x"}, 3], "new": 2})"));
    QVERIFY(!report.equal && !report.standardOutput.equal && report.standardOutput.bothJson);
    std::vector<std::string> told;
    for (const auto& difference : report.standardOutput.differences)
        told.push_back(difference.change + " " + difference.pointer);
    QCOMPARE(told, (std::vector<std::string>{"changed /b/1/c~1d", "added /b/2", "removed /gone", "added /new"}));
    QVERIFY(!report.standardOutput.more);
    QVERIFY(report.standardOutput.differences.front().from->is_null());
    // The same as JSON, in other bytes: no difference is listed, and still not equal byte for byte.
    const auto spaced = compareRuns({}, run("[1]"), run("[ 1 ]"));
    QVERIFY(!spaced.standardOutput.equal && spaced.standardOutput.differences.empty());
}

void TestComparisonReport::differencesAreBounded()
{
    json::array from;
    json::array to;
    for (int i = 0; i < 50; ++i) {
        from.emplace_back(i);
        to.emplace_back(i + 1);
    }
    std::vector<contract::JsonDifference> out;
    QVERIFY(diffJson(from, to, 10, out));
    QCOMPARE(out.size(), 10U);
    out.clear();
    QVERIFY(!diffJson(from, to, 50, out));
}

void TestComparisonReport::droppedOutputIsNeverEqual()
{
    contract::Run cut = run("head and tail");
    cut.commands.front().stdoutTotal = 5'000'000;
    QVERIFY(!compareRuns({}, cut, cut).equal);
}

void TestComparisonReport::pairsResultsByPath()
{
    contract::Run from = run("");
    contract::Run to = run("");
    from.artifacts = {artifact("a.txt", "1"), artifact("b.txt", "2"), artifact("c.txt", "3")};
    to.artifacts = {artifact("b.txt", "2"), artifact("c.txt", "4"), artifact("d.txt", "5")};
    const auto report = compareRuns({}, from, to);
    std::string told;
    for (const auto& pair : report.artifacts)
        told += pair.path + "=" + pair.status + " ";
    QCOMPARE(told, "a.txt=only_from b.txt=equal c.txt=differs d.txt=only_to ");
    QVERIFY(!report.equal);
}

void TestComparisonReport::isRunningUntilBothHaveEnded()
{
    contract::Run live = run("hi");
    live.endedAt.reset();
    const auto report = compareRuns({}, run("hi"), live);
    QCOMPARE(report.state, "running");
    QVERIFY(!report.equal);
}

void TestComparisonReport::anotherExitDiffers()
{
    QVERIFY(!compareRuns({}, run("x", 0), run("x", 1)).equal);
    QVERIFY(compareRuns({}, run("x", 1), run("x", 1)).equal);
}

QTEST_GUILESS_MAIN(TestComparisonReport)
#include "tst_comparison_report.moc"
