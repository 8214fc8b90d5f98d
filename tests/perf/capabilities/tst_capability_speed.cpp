// SPDX-License-Identifier: Apache-2.0
#include "server/registry/capabilities/package_scan.h"
#include "server/registry/folder.h"
#include "tests/unit/registry/package_fixture.h"

using namespace assay;

/// Pins what reading a package for its capabilities adds to a publish, which takes about 600 us of processor time. The
/// bounds are several times what is measured; the numbers are printed.
class TestCapabilitySpeed : public QObject
{
    Q_OBJECT

private slots:
    void anOrdinarySkillCostsLittle();
    void theLargestPackageIsBounded();
};

namespace {

double microsecondsOf(const registry::ValidPackage& package, int times)
{
    registry::capabilities::scanPackage(package.files, package.network, package.allowedTools);
    const test::CpuTimer timer;
    for (int i = 0; i < times; ++i)
        registry::capabilities::scanPackage(package.files, package.network, package.allowedTools);
    return timer.elapsedMs() * 1000 / times;
}

} // namespace

void TestCapabilitySpeed::anOrdinarySkillCostsLittle()
{
    auto source =
        registry::readFolder(ASSAY_SOURCE_DIR "/resources/examples/ticket-analysis", registry::FolderLinks::Refuse, {});
    ASSAY_OK(source);
    const auto package = registry::validatePackage(std::move(*source), {}, {});
    ASSAY_OK(package);
    const double cost = microsecondsOf(*package, 200);
    qInfo("%llu bytes of scripts and prose: %.0f us", static_cast<unsigned long long>(package->sizeBytes), cost);
    QVERIFY(cost < 500);
}

void TestCapabilitySpeed::theLargestPackageIsBounded()
{
    std::map<std::string, std::string> files{{"SKILL.md", test::kDemoSkill}};
    std::string code;
    while (code.size() < (1U << 20) - 200)
        code += "import mod" + std::to_string(code.size()) + "\nx = call('https://h" + std::to_string(code.size()) +
                ".example.org/', os.environ['KEY_" + std::to_string(code.size()) + "'])\n";
    for (int i = 0; i < 40; ++i)
        files.emplace("scripts/" + std::to_string(i) + ".py", code);
    const auto package = test::validate(files, "demo");
    ASSAY_OK(package);
    const double cost = microsecondsOf(*package, 2) / 1000;
    qInfo("40 MiB of scripts, of which 8 are read: %.0f ms", cost);
    QVERIFY(cost < 1000);
}

QTEST_GUILESS_MAIN(TestCapabilitySpeed)
#include "tst_capability_speed.moc"
