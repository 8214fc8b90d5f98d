// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/registry/package_fixture.h"
#include "tests/unit/registry_diff/diff_fixture.h"

#include "server/contract/codec.h"

#include <random>

using namespace assay;
using test::Files;

/// Pins what a comparison costs at the limits, and with input made to hurt: 200 ms of processor time.
class TestDiffSpeed : public QObject
{
    Q_OBJECT

private slots:
    void staysUnderTheBound_data();
    void staysUnderTheBound();
};

namespace {

using Texts = std::map<std::string, std::string>;

std::string lines(int count, unsigned seed, unsigned distinct)
{
    std::mt19937 random(seed);
    std::string out;
    for (int i = 0; i < count; ++i)
        out += "line " + std::to_string(random() % distinct) + " of some words that are like others\n";
    return out;
}

Texts many(int count, unsigned seed, const std::string& prefix = "file")
{
    Texts out;
    for (int i = 0; i < count; ++i)
        out.emplace(prefix + std::to_string(i), lines(30, seed + static_cast<unsigned>(i), 1000));
    return out;
}

std::string reversed(const std::string& text)
{
    std::string out;
    for (std::size_t end = text.size(); end > 0;) {
        const std::size_t start = text.rfind('\n', end - 2);
        out +=
            text.substr(start == std::string::npos ? 0 : start + 1, end - (start == std::string::npos ? 0 : start + 1));
        end = start == std::string::npos ? 0 : start + 1;
    }
    return out;
}

std::string repeated(const std::string& text, int count)
{
    std::string out;
    for (int i = 0; i < count; ++i)
        out += text;
    return out;
}

struct Case
{
    const char* name;
    Texts before;
    Texts after;
};

std::vector<Case> cases()
{
    const std::string thousands = lines(10'000, 1, 1'000'000);
    std::string everyLine = thousands;
    std::ranges::replace(everyLine, 'w', 'W');
    std::string someLines = thousands;
    for (std::size_t at = 0; (at = someLines.find("line 1", at)) != std::string::npos; at += 6)
        someLines[at] = 'L';
    const std::string words = repeated("a b ", 499);
    return {
        {"10,000 lines, every one changed", {{"a", thousands}}, {{"a", everyLine}}},
        {"10,000 lines, some changed", {{"a", thousands}}, {{"a", someLines}}},
        {"10,000 lines, none left", {{"a", thousands}}, {{"a", lines(10'000, 2, 1'000'000)}}},
        {"10,000 lines of 40 kinds, shuffled", {{"a", lines(10'000, 1, 40)}}, {{"a", lines(10'000, 2, 40)}}},
        {"10,000 lines backwards", {{"a", thousands}}, {{"a", reversed(thousands)}}},
        {"50,000 lines of two kinds", {{"a", repeated("x\ny\n", 25'000)}}, {{"a", repeated("y\ny\nx\n", 16'000)}}},
        {"2,000 files, all changed", many(2000, 1), many(2000, 5000)},
        {"2,000 files, all renamed, like each other", many(2000, 1, "old"), many(2000, 1, "new")},
        {"2,000 files removed, 2,000 others added", many(2000, 1, "old"), many(2000, 9000, "new")},
        {"one line of 10 MiB", {{"a", std::string(10 << 20, 'x')}}, {{"a", std::string(10 << 20, 'y')}}},
        {"one line of 3 MiB", {{"a", std::string(3 << 20, 'x')}}, {{"a", std::string(3 << 20, 'y')}}},
        {"10 MiB of line breaks", {{"a", std::string(10 << 20, '\n')}}, {{"a", "x"}}},
        {"2,000 lines of 1,000 words", {{"a", repeated(words + "1\n", 1000)}}, {{"a", repeated(words + "2\n", 1000)}}},
        {"words in another order",
         {{"a", repeated(repeated("a b c d e ", 90) + "\n", 1500)}},
         {{"a", repeated(repeated("e d c b a ", 90) + "\n", 1500)}}},
        {"one character of 4,000 bytes a line",
         {{"a", repeated("e" + repeated("\xCC\x81", 1900) + "1\n", 500)}},
         {{"a", repeated("e" + repeated("\xCC\x81", 1900) + "2\n", 500)}}},
    };
}

} // namespace

void TestDiffSpeed::staysUnderTheBound_data()
{
    QTest::addColumn<int>("index");
    int index = 0;
    for (const Case& one : cases())
        QTest::addRow("%s", one.name) << index++;
}

void TestDiffSpeed::staysUnderTheBound()
{
    QFETCH(int, index);
    const Case one = cases().at(static_cast<std::size_t>(index));
    const Files before(one.before);
    const Files after(one.after);
    double best = 1e9;
    std::size_t bytes = 0;
    for (int i = 0; i < 3; ++i) {
        const test::CpuTimer timer;
        auto diff = registry::diff::diffPackages(before.list(), after.list(), {});
        QVERIFY(diff);
        const std::string answer =
            json::serialize(contract::toJson(contract::SkillDiff{.skill = "demo", .package = std::move(*diff)}));
        best = std::min(best, timer.elapsedMs());
        bytes = answer.size();
    }
    qInfo("%.1f ms, answer of %.1f MB", best, double(bytes) / 1e6);
    QVERIFY2(best < 200, std::to_string(best).c_str());
}

QTEST_GUILESS_MAIN(TestDiffSpeed)
#include "tst_diff_speed.moc"
