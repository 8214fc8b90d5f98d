// SPDX-License-Identifier: Apache-2.0
#include "server/core/text.h"
#include "server/registry/capabilities/capability_diff.h"
#include "server/registry/capabilities/findings.h"
#include "tests/unit/registry/package_fixture.h"
#include "tests/unit/registry_capabilities/capability_fixture.h"

#include <random>

using namespace assay;
using test::Files;
using test::itemsOf;
using test::reportOf;

class TestCapabilityPackages : public QObject
{
    Q_OBJECT

private slots:
    void theFrontmatterIsPartOfIt();
    void executablesAndShebangs();
    void binaries();
    void scriptsComeBeforeProse();
    void aFloodOfOneKindHidesNoOther();
    void whatIsTooLargeIsNamed();
    void longValuesAreCutBetweenCharacters();
    void differencesAreByKindAndValue();
    void aReplacedBinaryIsChanged();
    void longPathsStayApart();
    void theInterpreterOfAnExecutableWins();
    void hostileSourcesTakeLinearTime_data();
    void hostileSourcesTakeLinearTime();
    void anyBytesAreRead();
};

void TestCapabilityPackages::theFrontmatterIsPartOfIt()
{
    const Files files({{"SKILL.md", "---\nname: x\n---\n"}});
    QCOMPARE(itemsOf(reportOf(files, "api.example.org *.example.net:8443", "Read Bash(git add:*) Write")),
             "net.declared *.example.net:8443; net.declared api.example.org; tool.allowed Bash(git add:*); "
             "tool.allowed Read; tool.allowed Write");
    QCOMPARE(itemsOf(reportOf(files, "", "Bash( unclosed Read")), "tool.allowed Bash( unclosed Read");
}

void TestCapabilityPackages::executablesAndShebangs()
{
    const Files files({{"bin/run", "#!/usr/bin/env -S python3 -u\nimport lxml\n"},
                       {"scripts/a.py", ""},
                       {"scripts/data.json", "{}"},
                       {"lib/b.py", ""},
                       {"odd", "#!/opt/tool/bin/x\n"},
                       {"text.txt", "#!\n"}},
                      {"bin/run", "text.txt"});
    QCOMPARE(itemsOf(reportOf(files)), "pkg.import python:lxml; exec.shebang /opt/tool/bin/x; exec.file bin/run; "
                                       "exec.shebang python3; exec.script scripts/a.py; exec.file text.txt");
}

void TestCapabilityPackages::binaries()
{
    const Files files({{"a.so", std::string("\x7f"
                                            "ELF\0",
                                            5)},
                       {"b.exe", std::string("MZ\0", 3)},
                       {"c.zip", std::string("PK\x03\x04\0", 5)},
                       {"d.png", std::string("\x89PNG\0", 5)},
                       {"e.docx", std::string("PK\x03\x04\0", 5)},
                       {"f", std::string("\0\1", 2)},
                       {"g.wasm", std::string("\0asm", 4)}},
                      {"f"});
    QCOMPARE(itemsOf(reportOf(files), {"exec.file"}),
             "bin.program a.so; bin.program b.exe; bin.archive c.zip; bin.program f; bin.program g.wasm");
}

void TestCapabilityPackages::scriptsComeBeforeProse()
{
    const auto report =
        reportOf(Files({{"SKILL.md", "---\nname: x\n---\n```sh\ncurl x\n```\n"}, {"scripts/z.sh", "curl y\n"}}));
    const auto curl = std::ranges::find(report.items, "net.client", &contract::Capability::rule);
    QVERIFY(curl != report.items.end());
    QCOMPARE(curl->path, "scripts/z.sh");
    QCOMPARE(curl->places, 2U);
}

void TestCapabilityPackages::aFloodOfOneKindHidesNoOther()
{
    std::string flood;
    for (int i = 0; i < 5000; ++i)
        flood += "os.getenv('MODE_" + std::to_string(i) + "')\n";
    const auto report = reportOf(Files({{"a.py", flood + "os.getenv('API_KEY')\nimport lxml\n"}}));
    QCOMPARE(report.items.size(), registry::capabilities::Findings::kMaxItems + 2);
    QCOMPARE(report.leftOut, 4900U);
    QVERIFY(std::ranges::contains(report.items, "API_KEY", &contract::Capability::value));
    QVERIFY(std::ranges::contains(report.items, "python:lxml", &contract::Capability::value));
}

void TestCapabilityPackages::whatIsTooLargeIsNamed()
{
    const std::string large = "import lxml\n" + std::string(2000, '#');
    const Files files({{"a.py", large}, {"b.py", "import six\n"}});
    QCOMPARE(itemsOf(reportOf(files, {}, {}, {.fileBytes = 1000})), "pkg.import python:six; scan.too-large a.py");
    QCOMPARE(itemsOf(reportOf(files, {}, {}, {.totalBytes = 2015})), "pkg.import python:lxml; scan.too-large b.py");
}

void TestCapabilityPackages::longValuesAreCutBetweenCharacters()
{
    std::string name = "MODE_";
    for (int i = 0; i < 300; ++i)
        name += "\xC3\xA9";
    const auto report = reportOf(Files({{"a.py", "os.getenv('" + name + "')\n"}}));
    QCOMPARE(report.items.size(), 1U);
    QVERIFY(report.items[0].value.size() <= 203 && isUtf8(report.items[0].value));
}

void TestCapabilityPackages::differencesAreByKindAndValue()
{
    const Files before({{"a.py", "import lxml\nu = 'https://a.example.org'\n"}, {"run", "#!/bin/sh\necho\n"}}, {"run"});
    const Files after({{"b.py", "import six\nu = 'https://a.example.org'\n"}, {"run", "#!/bin/sh\ncurl x\n"}}, {"run"});
    const auto diff = registry::capabilities::diffCapabilities(reportOf(before), reportOf(after), {"run"});
    std::string all;
    for (const auto& change : diff.items)
        all += (all.empty() ? "" : "; ") + change.change + " " + change.item.value;
    QCOMPARE(
        all,
        "added shell:curl; added python:six; changed run; removed python:lxml; unchanged a.example.org; unchanged sh");
    const auto first = registry::capabilities::diffCapabilities({}, reportOf(after), {});
    QVERIFY(std::ranges::all_of(first.items, [](const auto& change) { return change.change == "added"; }));
}

void TestCapabilityPackages::aReplacedBinaryIsChanged()
{
    const Files files({{"a.so", std::string("\x7f"
                                            "ELF\0",
                                            5)},
                       {"b.so", std::string("\x7f"
                                            "ELF\0",
                                            5)},
                       {"c.py", std::string(2000, '#')}});
    const auto report = reportOf(files, {}, {}, {.fileBytes = 1000});
    const auto diff = registry::capabilities::diffCapabilities(report, report, {"a.so", "c.py"});
    std::string all;
    for (const auto& change : diff.items)
        all += change.change + " " + change.item.value + "; ";
    QCOMPARE(all, "changed a.so; changed c.py; unchanged b.so; ");
}

void TestCapabilityPackages::longPathsStayApart()
{
    std::string folder;
    for (int i = 0; i < 4; ++i)
        folder += std::string(60, 'd') + '/';
    const auto report = reportOf(Files({{folder + "a", "x"}, {folder + "b", "x"}}, {folder + "a", folder + "b"}));
    QCOMPARE(itemsOf(report), "exec.file " + folder + "a; exec.file " + folder + "b");
}

void TestCapabilityPackages::theInterpreterOfAnExecutableWins()
{
    const std::string text = "#!/usr/bin/env python3\nimport lxml\n";
    QCOMPARE(itemsOf(reportOf(Files({{"tool.md", text}}, {"tool.md"}))),
             "pkg.import python:lxml; exec.shebang python3; exec.file tool.md");
    QCOMPARE(itemsOf(reportOf(Files({{"tool.md", text}}))), "exec.shebang python3");
    QCOMPARE(itemsOf(reportOf(Files({{"tool.py", "#!/bin/sh\ncurl x\n"}}, {"tool.py"}))),
             "net.client shell:curl; exec.shebang sh; exec.file tool.py");
}

void TestCapabilityPackages::hostileSourcesTakeLinearTime_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("piece");
    for (const char* name : {"a.py", "a.js", "a.sh", "a.rb", "SKILL.md", "requirements.txt", "pyproject.toml"})
        for (const char* piece : {"(",
                                  "[",
                                  "{",
                                  "\"",
                                  "'",
                                  "`",
                                  "${",
                                  "$(",
                                  "`${",
                                  "\\",
                                  "/",
                                  "/*",
                                  "//",
                                  "://",
                                  "a://",
                                  "https://a.b.c",
                                  ".",
                                  "../",
                                  "~/",
                                  "<<A\n",
                                  "<<A ",
                                  "#",
                                  "\n",
                                  "\"\"\"",
                                  "import a,",
                                  "from a import (b,",
                                  "os.environ[",
                                  "a.",
                                  "import ",
                                  "```bash\n",
                                  "```\n",
                                  "|sh ",
                                  "A=1 ",
                                  "sudo ",
                                  "pip install ",
                                  "a=[",
                                  "\"x\"",
                                  "process.env ",
                                  "} = process.env ",
                                  "/[",
                                  "subprocess.run([",
                                  "child_process';exec('x',b,",
                                  "exec(a,",
                                  "/a/.exec(",
                                  "\xC3\xA9"})
            QTest::addRow("%s %s", name, QByteArray(piece).replace('\n', "LF").constData())
                << QString(name) << QByteArray(piece);
}

void TestCapabilityPackages::hostileSourcesTakeLinearTime()
{
    QFETCH(QString, name);
    QFETCH(QByteArray, piece);
    const std::string text =
        "---\nname: x\n---\n" + piece.repeated(qsizetype((1 << 20) - 100) / piece.size()).toStdString();
    const Files files({{name.toStdString(), text}});
    const test::CpuTimer timer;
    reportOf(files);
    // 1 MiB takes some 10 ms; a quadratic rule takes minutes. Sanitizers are slow.
    QVERIFY2(timer.elapsedMs() < 2000, std::to_string(timer.elapsedMs()).c_str());
}

void TestCapabilityPackages::anyBytesAreRead()
{
    std::mt19937 random(9);
    const std::string alphabet = "\"'`\\\n\r\t #$(){}[]<>|&;/*.:~=-abimportfroexc\xC3\xA9";
    for (int round = 0; round < 400; ++round) {
        std::string text;
        for (auto i = random() % 400; i > 0; --i)
            text += alphabet[random() % alphabet.size()];
        for (const char* name :
             {"a.py", "a.js", "a.sh", "SKILL.md", "requirements.txt", "package.json", "pyproject.toml"})
            for (const auto& item : reportOf(Files({{name, text}})).items)
                QVERIFY(item.line <= 400 && item.places > 0 && !item.rule.empty());
    }
}

QTEST_GUILESS_MAIN(TestCapabilityPackages)
#include "tst_capability_packages.moc"
