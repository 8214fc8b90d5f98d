// SPDX-License-Identifier: Apache-2.0
#include "server/runs/output_check.h"
#include "tests/support/test_support.h"

using namespace assay;
using namespace assay::runs;

class TestOutputCheck : public QObject
{
    Q_OBJECT

private slots:
    void tellsWhatTheOutputIs_data();
    void tellsWhatTheOutputIs();
    void findingsPointIntoTheOutput();
    void droppedOutputIsNotJudged();
    void anUnusableSchemaIsTold();

private:
    static sandbox::CommandResult exited(const std::string& output, int status = 0)
    {
        sandbox::CommandResult out;
        out.termination = sandbox::Termination::Exited;
        out.exitCode = status;
        out.out = {.head = output, .tail = {}, .totalBytes = output.size()};
        return out;
    }
    const PlannedSchema m_schema{"assets/output-schema.json", "[1]"};
    const SchemaCheck m_check = [](std::string_view schema, std::string_view instance,
                                   std::string_view) -> Result<void> {
        if (instance == schema)
            return {};
        return failAt("/0", "it is another");
    };
};

void TestOutputCheck::tellsWhatTheOutputIs_data()
{
    QTest::addColumn<QString>("output");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("state");
    QTest::newRow("fits") << "[1]" << 0 << "pass";
    QTest::newRow("does not fit") << "[2]" << 0 << "fail";
    QTest::newRow("text") << "no" << 0 << "not_json";
    QTest::newRow("two values") << "[1] [1]" << 0 << "not_json";
    QTest::newRow("nothing") << "" << 0 << "not_json";
    QTest::newRow("of a script that failed") << "[1]" << 3 << "not_checked";
}

void TestOutputCheck::tellsWhatTheOutputIs()
{
    QFETCH(QString, output);
    QFETCH(int, status);
    QFETCH(QString, state);
    const auto told = checkOutput(m_check, m_schema, exited(output.toStdString(), status));
    QCOMPARE(QString::fromStdString(told.state), state);
    QCOMPARE(told.schema, "assets/output-schema.json");
    QCOMPARE(told.message.empty(), state == "pass");
    auto killed = exited(output.toStdString());
    killed.termination = sandbox::Termination::Timeout;
    QCOMPARE(checkOutput(m_check, m_schema, killed).state, "not_checked");
}

void TestOutputCheck::findingsPointIntoTheOutput()
{
    const auto told = checkOutput(m_check, m_schema, exited("[2]"));
    QCOMPARE(told.errors.size(), 1U);
    QCOMPARE(told.errors[0].pointer, "/0");
}

void TestOutputCheck::droppedOutputIsNotJudged()
{
    auto result = exited("[1]");
    result.out.totalBytes = 5'000'000;
    const auto told = checkOutput(m_check, m_schema, result);
    QCOMPARE(told.state, "too_large");
    QVERIFY(told.message.contains("5000000"));
}

void TestOutputCheck::anUnusableSchemaIsTold()
{
    const SchemaCheck unusable = [](std::string_view, std::string_view, std::string_view) -> Result<void> {
        return refuse("schema_unusable", "it is none");
    };
    const auto told = checkOutput(unusable, m_schema, exited("[1]"));
    QCOMPARE(told.state, "unusable");
    QCOMPARE(told.message, "it is none");
}

QTEST_APPLESS_MAIN(TestOutputCheck)
#include "tst_output_check.moc"
