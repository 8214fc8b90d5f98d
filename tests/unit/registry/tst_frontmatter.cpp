// SPDX-License-Identifier: Apache-2.0
#include "server/registry/allowed_tools.h"
#include "server/registry/frontmatter.h"
#include "server/registry/name_slug.h"
#include "server/registry/yaml_reader.h"
#include "tests/unit/registry/package_fixture.h"

using namespace assay;
using namespace assay::registry;
using test::codesOf;
using test::joined;
using test::problemNamed;

class TestFrontmatter : public QObject
{
    Q_OBJECT

private slots:
    void keepsTheSharedVectors();
    void readsTheFields();
    void saysLineAndColumnOfABadValue();
    void countsColumnsInCodePoints();
    void refusesRepeatedKeysAtAnyDepth();
    void keepsPositionsBehindJoinedSurrogates();
    void refusesHalfASurrogatePair();
    void resolvesAliasesOfScalarsOnly();
    void refusesASecondDocument();
    void staysWithinItsBounds_data();
    void staysWithinItsBounds();
    void slugsNames();
    void readsToolsInEveryForm();
};

namespace {

Result<ValidPackage> publish(std::string_view skillMd) { return test::validate({{"SKILL.md", std::string(skillMd)}}); }

Result<ValidPackage> publishYaml(const std::string& yaml) { return publish("---\n" + yaml + "---\n"); }

void checkFields(const json::object& wanted, const ValidPackage& package)
{
    for (const auto& [key, value] : wanted) {
        if (key == "name")
            QCOMPARE(package.name, slugOf(value.as_string()));
        else
            QCOMPARE(package.description, std::string(value.as_string()));
    }
}

void checkInvalid(const json::object& wanted, const Result<ValidPackage>& result)
{
    QVERIFY(!result);
    const Problem found = problemNamed(result.error().problems, wanted.at("code").as_string());
    QVERIFY2(!found.code.empty(), joined(codesOf(result)));
    if (wanted.contains("line"))
        QCOMPARE(found.line.value_or(0), wanted.at("line").to_number<std::uint32_t>());
    QCOMPARE(found.path, "SKILL.md");
}

void checkValid(const json::object& wanted, const Result<ValidPackage>& result)
{
    ASSAY_OK(result);
    std::vector<std::string> lints;
    if (wanted.contains("lints"))
        lints = json::value_to<std::vector<std::string>>(wanted.at("lints"));
    std::ranges::sort(lints);
    QCOMPARE(joined(codesOf(result->lints)), joined(lints));
    if (wanted.contains("slug"))
        QCOMPARE(result->name, std::string(wanted.at("slug").as_string()));
    if (wanted.contains("fields"))
        checkFields(wanted.at("fields").as_object(), *result);
}

} // namespace

void TestFrontmatter::keepsTheSharedVectors()
{
    const json::value all = test::vectors("frontmatter.json");
    if (all.is_null())
        QSKIP("this machine has no shared vectors; set ASSAY_VECTORS");
    for (const json::value& item : all.at("cases").as_array()) {
        const json::object& wanted = item.as_object();
        qInfo("%s", wanted.at("name").as_string().c_str());
        const test::CpuTimer timer;
        const auto result = publish(wanted.at("skill_md").as_string());
        QVERIFY(timer.elapsedMs() < 1000);
        if (wanted.contains("bounded"))
            continue;
        if (wanted.at("valid").as_bool())
            checkValid(wanted, result);
        else
            checkInvalid(wanted, result);
        if (QTest::currentTestFailed())
            return;
    }
}

void TestFrontmatter::readsTheFields()
{
    const auto package =
        publishYaml("name: demo\ndescription: 'It is: one'\nlicense: MIT\ncompatibility: any\n"
                    "allowed-tools: Bash(git add:*)  Read\nmetadata:\n  assay.network: api.example.org\n  a: b\n");
    ASSAY_OK(package);
    QCOMPARE(package->name, "demo");
    QCOMPARE(package->description, "It is: one");
    QCOMPARE(package->allowedTools, "Bash(git add:*) Read");
    QCOMPARE(package->network, "api.example.org");
    QVERIFY2(package->lints.empty(), joined(codesOf(package->lints)));
}

void TestFrontmatter::saysLineAndColumnOfABadValue()
{
    const auto result = publishYaml("name: demo\ndescription: Use when: asked\n");
    ASSAY_FAILS(result, ErrorCode::InvalidPackage);
    const Problem& problem = result.error().problems.front();
    QCOMPARE(problem.code, "invalid_frontmatter");
    QCOMPARE(problem.line, 3U);
    QCOMPARE(problem.column, 22U);
    QVERIFY(problem.message.contains("quotes"));
}

void TestFrontmatter::countsColumnsInCodePoints()
{
    const auto result = publishYaml("name: demo\ndescription: \u00e9\U0001F600: b: c\n");
    ASSAY_FAILS(result, ErrorCode::InvalidPackage);
    QCOMPARE(result.error().problems.front().line, 3U);
    QCOMPARE(result.error().problems.front().column, 16U);
}

void TestFrontmatter::refusesRepeatedKeysAtAnyDepth()
{
    for (const char* yaml :
         {"name: demo\nname: demo\ndescription: x\n", "name: demo\ndescription: x\nmetadata:\n  a: {b: 1, \"b\": 2}\n",
          "name: &n demo\ndescription: x\nmetadata: {demo: 1, *n : 2}\n"})
        QCOMPARE(joined(codesOf(publishYaml(yaml))), "invalid_frontmatter");
}

void TestFrontmatter::keepsPositionsBehindJoinedSurrogates()
{
    const auto result = publishYaml("name: demo\ndescription: [\"\\ud83d\\ude00 \\uD83D\\uDE01\", \"\\ud83d\"]\n");
    ASSAY_FAILS(result, ErrorCode::InvalidPackage);
    QCOMPARE(result.error().problems.front().line, 3U);
    QCOMPARE(result.error().problems.front().column, 45U);
    const auto joinedPair =
        publishYaml("name: demo\ndescription: \"\\\\ud83d\\\\ude00 \\ud83d\\ude00 \\\"\\ud83d\\ude01\"\n");
    ASSAY_OK(joinedPair);
    QCOMPARE(joinedPair->description, "\\ud83d\\ude00 \U0001F600 \"\U0001F601");
    const auto verbatim = publishYaml("name: demo\ndescription: '\\ud83d\\ude00'\n");
    ASSAY_OK(verbatim);
    QCOMPARE(verbatim->description, "\\ud83d\\ude00");
}

void TestFrontmatter::refusesHalfASurrogatePair()
{
    for (const char* value : {"\\ud83d", "\\ude00\\ud83d", "\\ud83d x \\ude00", "\\ud83d\\ud83d\\ude00"})
        QCOMPARE(joined(codesOf(publishYaml("name: demo\ndescription: \"" + std::string(value) + "\"\n"))),
                 "invalid_frontmatter");
}

void TestFrontmatter::resolvesAliasesOfScalarsOnly()
{
    const auto scalar = publishYaml("name: &n demo\ndescription: *n\n");
    ASSAY_OK(scalar);
    QCOMPARE(scalar->description, "demo");
    QCOMPARE(joined(codesOf(publishYaml("name: demo\nx: &l [a]\ndescription: *l\n"))), "missing_description");
    QCOMPARE(joined(codesOf(publishYaml("name: demo\ndescription: *nothing\n"))), "invalid_frontmatter");
}

void TestFrontmatter::refusesASecondDocument()
{
    QCOMPARE(joined(codesOf(publishYaml("name: demo\ndescription: x\n...\nname: other\n"))), "invalid_frontmatter");
}

void TestFrontmatter::staysWithinItsBounds_data()
{
    QTest::addColumn<QByteArray>("yaml");
    QByteArray aliases = "a: &a x\n";
    QByteArray pairs;
    for (int i = 0; i < 2500; ++i) {
        aliases += "k" + QByteArray::number(i) + ": *a\n";
        pairs += "k" + QByteArray::number(i) + ": \"\\ud83d\\ude00\"\n";
    }
    QTest::newRow("deep lists") << QByteArray("a: ") + QByteArray(60000, '[');
    QTest::newRow("deep mappings") << QByteArray("a: ") + QByteArray(60000, '{');
    QTest::newRow("deep blocks") << QByteArray(60000, '?');
    QTest::newRow("dashes") << QByteArray("- ").repeated(30000);
    QTest::newRow("many values") << "a: [" + QByteArray("1,").repeated(30000) + "]";
    QTest::newRow("many aliases") << aliases;
    QTest::newRow("many pairs") << pairs;
    QTest::newRow("many pairs in one") << "a: \"" + QByteArray("\\ud83d\\ude00").repeated(5000) + "\"\n";
    QTest::newRow("many anchors") << QByteArray("- &a b\n").repeated(9000);
    QTest::newRow("many open quotes") << QByteArray("\"a\" ").repeated(15000);
    QTest::newRow("one long line") << "a: " + QByteArray(60000, 'x');
    QTest::newRow("blanks") << "a: \"" + QByteArray(60000, '\n') + "\"";
    QTest::newRow("over the limit") << "a: " + QByteArray(9 << 20, 'x');
    QTest::newRow("only comments") << QByteArray("#\n").repeated(30000);
    QTest::newRow("flow keys") << "a: {" + QByteArray("? ").repeated(30000);
}

void TestFrontmatter::staysWithinItsBounds()
{
    QFETCH(QByteArray, yaml);
    const test::CpuTimer timer;
    const auto result = publishYaml(yaml.toStdString() + "\n");
    QVERIFY2(timer.elapsedMs() < 1000, QByteArray::number(timer.elapsedMs()));
    ASSAY_FAILS(result, ErrorCode::InvalidPackage);
}

void TestFrontmatter::slugsNames()
{
    const std::map<std::string, std::string> wanted{
        {"demo", "demo"},         {"My  Demo!", "my-demo"}, {"--a--b--", "a-b"}, {"\uff21\ufb01", "afi"},
        {"Caf\u00e9 1", "caf-1"}, {"\u6280\u80fd", ""},     {"\u212a", "k"}};
    for (const auto& [name, slug] : wanted)
        QCOMPARE(slugOf(name), slug);
    for (const char* good : {"a", "a-b", "0"})
        QVERIFY(isRegistryName(good));
    for (const char* bad : {"", "-", "a-", "-a", "a--b", "A", "a_b", "a.b", "\u00e9"})
        QVERIFY2(!isRegistryName(bad), bad);
    QVERIFY(isRegistryName(std::string(64, 'a')) && !isRegistryName(std::string(65, 'a')));
}

void TestFrontmatter::readsToolsInEveryForm()
{
    const auto read = [](const std::string& yaml) {
        const auto document = readYaml(yaml);
        return document ? readAllowedTools(document->root) : AllowedTools{"unreadable", false};
    };
    QCOMPARE(read("Read  Write").canonical, "Read Write");
    QVERIFY(read("Read Bash(a, b)").isPortable);
    QCOMPARE(read("Read, Bash(a, b)").canonical, "Read Bash(a, b)");
    QVERIFY(!read("Read, Bash(a, b)").isPortable);
    QCOMPARE(read("- Read\n- Write\n").canonical, "Read Write");
    QVERIFY(!read("- Read\n").isPortable);
    QCOMPARE(read("~").canonical, "");
    QCOMPARE(read(")) a").canonical, ")) a");
}

QTEST_APPLESS_MAIN(TestFrontmatter)
#include "tst_frontmatter.moc"
