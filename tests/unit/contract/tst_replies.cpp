// SPDX-License-Identifier: Apache-2.0
// The bytes of replies are promises: golden/ holds one of every kind. ASSAY_UPDATE_GOLDEN=1 writes them anew.
#include "tests/support/test_support.h"
#include "tests/unit/contract/sample_replies.h"

#include <QDir>

using namespace assay;

class TestReplies : public QObject
{
    Q_OBJECT

private slots:
    void matchTheGoldenFiles_data();
    void matchTheGoldenFiles();
    void noGoldenFileIsLeftOver();
    void carryOutputOnlyUpToTheirBudget();
    void sendOutputThatIsNotTextAsBase64();
    void neverTellAnErrorsDetail();
};

namespace {

QString goldenDirectory() { return QStringLiteral(ASSAY_SOURCE_DIR "/tests/unit/contract/golden"); }

/// One member a line, so that a change is one line of a diff.
void print(QByteArray& out, const json::value& value, int depth)
{
    const QByteArray indent(2 * depth + 2, ' ');
    if (const json::object* object = value.if_object(); object && !object->empty()) {
        out += "{\n";
        for (const auto& member : *object) {
            out += indent + QByteArray::fromStdString(json::serialize(json::string(member.key()))) + ": ";
            print(out, member.value(), depth + 1);
            out += &member == &*(object->end() - 1) ? "\n" : ",\n";
        }
        out += indent.chopped(2) + "}";
    } else if (const json::array* array = value.if_array(); array && !array->empty()) {
        out += "[\n";
        for (const auto& item : *array) {
            out += indent;
            print(out, item, depth + 1);
            out += &item == &array->back() ? "\n" : ",\n";
        }
        out += indent.chopped(2) + "]";
    } else {
        out += QByteArray::fromStdString(json::serialize(value));
    }
}

} // namespace

void TestReplies::matchTheGoldenFiles_data()
{
    QTest::addColumn<QByteArray>("text");
    for (const auto& [name, reply] : test::sampleReplies()) {
        QByteArray text;
        print(text, reply, 0);
        QTest::newRow(name.c_str()) << text + "\n";
    }
}

void TestReplies::matchTheGoldenFiles()
{
    QFETCH(QByteArray, text);
    QFile file(goldenDirectory() + "/" + QTest::currentDataTag() + ".json");
    if (qEnvironmentVariableIsSet("ASSAY_UPDATE_GOLDEN")) {
        QVERIFY(file.open(QIODevice::WriteOnly));
        QCOMPARE(file.write(text), text.size());
        return;
    }
    QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.fileName()));
    QCOMPARE(text, file.readAll());
}

void TestReplies::noGoldenFileIsLeftOver()
{
    QCOMPARE(QDir(goldenDirectory()).entryList({"*.json"}).size(), qsizetype(test::sampleReplies().size()));
}

void TestReplies::carryOutputOnlyUpToTheirBudget()
{
    contract::Run run{.id = "run_x"};
    for (int i = 0; i < 3; ++i)
        run.commands.push_back({.id = "c", .stdoutBytes = std::string(contract::kRunOutputBytes / 2, 'x')});
    const json::object full = contract::toJson(run, contract::RunDetail::Full);
    QVERIFY(full.at("commands").at(1).as_object().contains("stdout"));
    QVERIFY(!full.at("commands").at(2).as_object().contains("stdout"));
    QCOMPARE(full.at("commands").at(2).at("output_omitted").as_bool(), true);
    const json::object summary = contract::toJson(run, contract::RunDetail::Summary);
    QVERIFY(!summary.at("commands").at(0).as_object().contains("stdout"));
}

void TestReplies::sendOutputThatIsNotTextAsBase64()
{
    const json::object out = contract::toJson(contract::CommandResult{.stdoutBytes = "a\xff", .stderrBytes = "\u00e9"});
    QCOMPARE(out.at("stdout_base64").as_string(), "Yf8=");
    QVERIFY(!out.contains("stdout"));
    QCOMPARE(out.at("stderr").as_string(), "\u00e9");
}

void TestReplies::neverTellAnErrorsDetail()
{
    const Error error{ErrorCode::Internal, "the server failed", "/var/lib/secret.db is broken", {}, {}};
    QVERIFY(!json::serialize(contract::problemDocument(error, "/v1")).contains("secret"));
}

QTEST_APPLESS_MAIN(TestReplies)
#include "tst_replies.moc"
