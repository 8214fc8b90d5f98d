// SPDX-License-Identifier: Apache-2.0
#include "server/registry/schema_files.h"
#include "tests/unit/registry/package_fixture.h"

using namespace assay;
using namespace assay::registry;

class TestSchemaFiles : public QObject
{
    Q_OBJECT

private slots:
    void theNearestSchemaWins();
    void soundSchemasHaveNoLint();
    void lintsWhatRunsWillRefuse_data();
    void lintsWhatRunsWillRefuse();
    void theFrontmatterNamesSchemas();
    void whatNeedsExecutionSaysSo();
};

namespace {

std::string skillWith(const std::string& metadata)
{
    return "---\nname: demo\ndescription: x\nmetadata:\n  author: a\n" + metadata + "---\nText\n";
}

std::string find(const std::set<std::string, std::less<>>& files, std::string_view script,
                 std::string_view declared = {})
{
    return schemaPath(script, SchemaOf::Input, declared, [&](std::string_view path) { return files.contains(path); });
}

std::vector<Problem> lintsOf(std::map<std::string, std::string> files, const std::string& metadata = {})
{
    files.emplace("SKILL.md", skillWith(metadata));
    auto package = test::validate(files, "demo");
    if (!package)
        return {{.code = "invalid", .message = package.error().message}};
    std::erase_if(package->lints, [](const Problem& lint) { return lint.client != "assay"; });
    return package->lints;
}

} // namespace

void TestSchemaFiles::theNearestSchemaWins()
{
    const std::set<std::string, std::less<>> all{"schemas/run.py.input.json", "schemas/run.input.json",
                                                 "assets/input-schema.json", "schemas/.run.input.json", "my.json"};
    QCOMPARE(find(all, "scripts/run.py"), "schemas/run.py.input.json");
    QCOMPARE(find(all, "run.js"), "schemas/run.input.json");
    QCOMPARE(find(all, "bin/run"), "schemas/run.input.json");
    QCOMPARE(find(all, "a/.run"), "schemas/.run.input.json");
    QCOMPARE(find(all, "walk.py"), "assets/input-schema.json");
    QCOMPARE(find(all, "walk.py", "my.json"), "my.json");
    QCOMPARE(find({}, "walk.py", "missing.json"), "missing.json");
    QCOMPARE(find({"run.input.json"}, "run.py"), "");
    QCOMPARE(schemaPath("run.py", SchemaOf::Output, {},
                        [](std::string_view path) { return path == "assets/output-schema.json"; }),
             "assets/output-schema.json");
}

void TestSchemaFiles::soundSchemasHaveNoLint()
{
    QVERIFY(lintsOf({{"assets/input-schema.json", R"({"type": "object", "properties": {"$ref": {"type": "string"}}})"},
                     {"assets/output-schema.json", "true"},
                     {"schemas/x.output.json", R"({"$ref": "#/$defs/a", "$defs": {"a": {}}})"},
                     {"references/other.json", "not looked at"}})
                .empty());
}

void TestSchemaFiles::lintsWhatRunsWillRefuse_data()
{
    QTest::addColumn<QString>("schema");
    QTest::addColumn<QString>("expected");
    QTest::newRow("no JSON") << "{\n  \"type\": oops\n}" << "invalid_schema 2:";
    QTest::newRow("nothing") << "" << "invalid_schema 1:1";
    QTest::newRow("a number") << "3" << "invalid_schema 1:1";
    QTest::newRow("twice the same") << "{\"a\": 1,\n \"a\": 2}" << "invalid_schema 2:";
    QTest::newRow("elsewhere") << R"({"items": [{"$ref": "https://example.org/x.json"}]})"
                               << "schema_remote_reference 1:1";
    QTest::newRow("too deep") << QString("[").repeated(100) << "invalid_schema 1:";
    QTest::newRow("too large") << "\"" + QString(300'000, 'x') + "\"" << "schema_too_large 1:1";
}

void TestSchemaFiles::lintsWhatRunsWillRefuse()
{
    QFETCH(QString, schema);
    QFETCH(QString, expected);
    for (const char* path :
         {"assets/input-schema.json", "assets/output-schema.json", "schemas/run.input.json", "own/x.json"}) {
        const auto lints =
            lintsOf({{path, schema.toStdString()}, {"assets/x", ""}}, "  assay.input-schema: own/x.json\n");
        const auto found = std::ranges::find(lints, std::string(path), &Problem::path);
        QVERIFY2(found != lints.end(), path);
        const std::string told = found->code + " " + std::to_string(found->line.value_or(0)) + ":" +
                                 std::to_string(found->column.value_or(0));
        QVERIFY2(told.starts_with(expected.toStdString()), told.c_str());
    }
}

void TestSchemaFiles::theFrontmatterNamesSchemas()
{
    const std::map<std::string, std::string> files{
        {"SKILL.md", skillWith("  assay.input-schema: own/in.json\n  assay.output-schema: own/out.json\n")},
        {"own/in.json", "{}"}};
    const auto package = test::validate(files, "demo");
    ASSAY_OK(package);
    QCOMPARE(package->inputSchema, "own/in.json");
    QCOMPARE(package->outputSchema, "own/out.json");
    const Problem missing = test::problemNamed(package->lints, "schema_missing");
    QCOMPARE(missing.path, "SKILL.md");
    QCOMPARE(missing.line, std::optional<std::uint32_t>(7));
}

void TestSchemaFiles::whatNeedsExecutionSaysSo()
{
    const auto requires_ = [](std::map<std::string, std::string> files, const std::string& metadata = {}) {
        files.emplace("SKILL.md", skillWith(metadata));
        const auto package = test::validate(files, "demo");
        return package && package->requiresExecution;
    };
    QVERIFY(!requires_({{"references/a.md", "x"}}));
    QVERIFY(requires_({{"scripts/a.py", "x"}}));
    QVERIFY(requires_({}, "  assay.requires-execution: \"true\"\n"));
    QVERIFY(!requires_({}, "  assay.requires-execution: \"false\"\n"));
    QVERIFY(registry::validatePackage(test::sourceOf({{"SKILL.md", skillWith("")}, {"run", "#!/bin/sh\n"}}, {"run"}),
                                      "demo", {})
                ->requiresExecution);
    QCOMPARE(test::codesOf(lintsOf({}, "  assay.requires-execution: \"perhaps\"\n")),
             std::vector<std::string>{"metadata_value"});
}

QTEST_GUILESS_MAIN(TestSchemaFiles)
#include "tst_schema_files.moc"
