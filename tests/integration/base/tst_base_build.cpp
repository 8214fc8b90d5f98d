// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/base/base_store.h"
#include "tests/unit/sandbox_bubblewrap/box_fixture.h"

#include <QTemporaryDir>

#include <filesystem>
#include <sys/stat.h>

using namespace assay;
using namespace assay::sandbox;

class TestBaseBuild : public QObject
{
    Q_OBJECT

private slots:
    void twoBuildsHaveOneDigest();
    void aBoxStartsFromIt();
    void cancellingLeavesNothing();

private:
    /// ASSAY_BASE_PACKAGES names another list, for example the default one for a measurement.
    static base::BuildOptions smallOptions();

    const QTemporaryDir m_first;
};

base::BuildOptions TestBaseBuild::smallOptions()
{
    base::BuildOptions options;
    if (qEnvironmentVariable("ASSAY_BASE_PACKAGES") != QStringLiteral("default"))
        options.packages = {"jq"};
    return options;
}

void TestBaseBuild::twoBuildsHaveOneDigest()
{
    const QTemporaryDir second;
    const auto progress = [](std::string_view line) { qDebug("%.*s", static_cast<int>(line.size()), line.data()); };
    QElapsedTimer timer;
    timer.start();
    const auto a = base::buildBase(m_first.path().toStdString(), progress, {}, smallOptions());
    ASSAY_OK(a);
    qInfo("built in %.1f s, %.0f MB, %llu entries", static_cast<double>(timer.elapsed()) / 1e3,
          static_cast<double>(a->sizeBytes) / 1e6, static_cast<unsigned long long>(a->files));
    const auto b = base::buildBase(second.path().toStdString(), progress, {}, smallOptions());
    ASSAY_OK(b);
    QCOMPARE(a->digest, b->digest);
    QCOMPARE(a->packages, b->packages);
    ASSAY_OK(base::verifyBase(m_first.path().toStdString(), a->digest, {}));
    const auto selected = base::selectBase(m_first.path().toStdString());
    ASSAY_OK(selected);
    QCOMPARE(selected->digest, a->digest);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(selected->root)) {
        struct stat info{};
        QCOMPARE(::lstat(entry.path().c_str(), &info), 0);
        QVERIFY2((info.st_mode & (S_ISUID | S_ISGID)) == 0, entry.path().c_str());
    }
}

void TestBaseBuild::aBoxStartsFromIt()
{
    const auto base = base::selectBase(m_first.path().toStdString());
    ASSAY_OK(base);
    QVERIFY(!base->root.empty());
    test::BoxFixture boxes;
    auto spec = boxes.spec();
    spec.base = *base;
    // A virtual environment brings its own pip.
    spec.limits.tmpBytes = 128U << 20;
    spec.limits.memoryBytes = 512U << 20;
    auto box = boxes.box(spec);
    std::vector<std::string> commands{"jq -n 1", "id -un | grep -x box", "test ! -e /var", "! echo x > /etc/x",
                                      "! grep -q host /etc/hostname"};
    if (smallOptions().packages.size() > 1)
        for (const char* more : {"python3 -c 'import ssl, sqlite3, json, venv'", "node -e 1", "npm --version",
                                 "pip --version", "git --version", "rg --version", "curl --version", "unzip -v",
                                 "zip -v", "xz --version", "cd /tmp && python3 -m venv v && v/bin/python -c 1"})
            commands.emplace_back(more);
    for (const std::string& command : commands) {
        const auto answer = test::shellIn(*box, command);
        QVERIFY2(answer.exitedWith(0), (command + ": " + answer.output).c_str());
    }
}

void TestBaseBuild::cancellingLeavesNothing()
{
    const QTemporaryDir folder;
    std::stop_source stop;
    int lines = 0;
    const auto progress = [&](std::string_view) {
        if (++lines == 3)
            stop.request_stop();
    };
    const auto cancelled = base::buildBase(folder.path().toStdString(), progress, stop.get_token(), smallOptions());
    ASSAY_FAILS(cancelled, ErrorCode::Cancelled);
    QVERIFY(base::listBases(folder.path().toStdString())->empty());
    QVERIFY(std::filesystem::is_empty(folder.path().toStdString() + "/bases"));
}

QTEST_GUILESS_MAIN(TestBaseBuild)
#include "tst_base_build.moc"
