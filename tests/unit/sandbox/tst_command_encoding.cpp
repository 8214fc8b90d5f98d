// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/command_encoding.h"
#include "tests/support/test_support.h"

using namespace assay;
using namespace assay::sandbox;

class TestCommandEncoding : public QObject
{
    Q_OBJECT

private slots:
    void environmentIsEnumerated();
    void laterVariablesReplaceEarlierOnes();
    void refusesWhatNoProcessCanBeGiven();
    void refusesWhatIsOverTheLimits();
};

namespace {

Command valid()
{
    Command command;
    command.argv = {"true"};
    return command;
}

} // namespace

void TestCommandEncoding::environmentIsEnumerated()
{
    const std::vector<std::string> expected{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                            "HOME=/workspace", "LANG=C.UTF-8", "TMPDIR=/tmp", "USER=assay"};
    QCOMPARE(commandEnvironment({}), expected);
}

void TestCommandEncoding::laterVariablesReplaceEarlierOnes()
{
    const auto lines = commandEnvironment({{"HOME", "/tmp"}, {"A", "1"}, {"A", "2"}});
    QCOMPARE(lines.size(), 6U);
    QCOMPARE(lines[1], "HOME=/tmp");
    QCOMPARE(lines[5], "A=2");
}

void TestCommandEncoding::refusesWhatNoProcessCanBeGiven()
{
    ASSAY_OK(encodeCommand(valid()));
    std::vector<Command> bad(8, valid());
    bad[0].argv.clear();
    bad[1].argv = {""};
    bad[2].argv.push_back(std::string("a\0b", 3));
    bad[3].cwd = "relative";
    bad[4].cwd = std::string("/a\0", 3);
    bad[5].env = {{"", "x"}};
    bad[6].env = {{"A=B", "x"}};
    bad[7].env = {{"A", std::string("\0", 1)}};
    for (const Command& command : bad)
        ASSAY_FAILS(encodeCommand(command), ErrorCode::InvalidArgument);
}

void TestCommandEncoding::refusesWhatIsOverTheLimits()
{
    Command many = valid();
    many.argv.assign(4096, "x");
    ASSAY_OK(encodeCommand(many));
    many.argv.emplace_back("x");
    ASSAY_FAILS(encodeCommand(many), ErrorCode::InvalidArgument);
    Command large = valid();
    large.argv.emplace_back(1024 * 1024, 'x');
    ASSAY_FAILS(encodeCommand(large), ErrorCode::InvalidArgument);
    Command variables = valid();
    for (int i = 0; i < 1024; ++i)
        variables.env.emplace_back("V" + std::to_string(i), "");
    ASSAY_FAILS(encodeCommand(variables), ErrorCode::InvalidArgument);
}

QTEST_GUILESS_MAIN(TestCommandEncoding)
#include "tst_command_encoding.moc"
