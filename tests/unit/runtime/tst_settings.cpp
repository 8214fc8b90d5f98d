// SPDX-License-Identifier: Apache-2.0
#include "server/core/file_io.h"
#include "server/runtime/data_directory.h"
#include "server/runtime/log.h"
#include "server/runtime/settings.h"
#include "tests/support/test_support.h"

#include <QTemporaryDir>

#include <algorithm>
#include <set>

using namespace assay;
using namespace assay::runtime;

namespace {

SettingSources in(const QTemporaryDir& dir)
{
    SettingSources sources;
    sources.environment = {{"ASSAY_DATA", dir.path().toStdString()}, {"HOME", "/nowhere"}};
    return sources;
}

void writeFile(const QTemporaryDir& dir, std::string_view text)
{
    QVERIFY(replaceFileDurably(dir.filePath("assayd.toml").toStdString(), text).has_value());
}

} // namespace

class TestSettings : public QObject
{
    Q_OBJECT

private slots:
    void laterSourcesWin();
    void findsTheDataDirectory();
    void refusesUnknownKeys();
    void warnsAboutUnknownVariables();
    void refusesValues_data();
    void refusesValues();
    void saysWhereAFileIsWrong();
    void everyRowSetsWhatItShows();
    void theManualHasTheTable();
    void keepsTheDataDirectoryPrivate();
    void noEventForgesALogLine();
};

void TestSettings::laterSourcesWin()
{
    const QTemporaryDir dir;
    writeFile(dir,
              "listen = [\"127.0.0.1:1\", \"[::1]:2\"]\nexecution = false\n[http]\nconnections = 10\nidle_ms = 1000\n");
    SettingSources sources = in(dir);
    auto loaded = loadSettings(sources);
    ASSAY_OK(loaded);
    QCOMPARE(loaded->settings.listen, (std::vector<std::string>{"127.0.0.1:1", "[::1]:2"}));
    QVERIFY(!loaded->settings.execution);
    sources.environment.emplace_back("ASSAY_HTTP_CONNECTIONS", "20");
    sources.environment.emplace_back("ASSAY_HTTP_IDLE_MS", "2000");
    sources.environment.emplace_back("ASSAY_LISTEN", "127.0.0.1:3,unix:/a");
    sources.overrides = {{"http.connections", {"30"}}};
    loaded = loadSettings(sources);
    ASSAY_OK(loaded);
    QCOMPARE(loaded->settings.http.connections, 30U);
    QCOMPARE(loaded->settings.http.idle, std::chrono::milliseconds(2000));
    QCOMPARE(loaded->settings.listen, (std::vector<std::string>{"127.0.0.1:3", "unix:/a"}));
}

void TestSettings::findsTheDataDirectory()
{
    SettingSources sources;
    sources.environment = {{"HOME", "/h"}};
    QCOMPARE(loadSettings(sources)->settings.data, "/h/.local/share/assay");
    sources.environment.emplace_back("XDG_DATA_HOME", "/x");
    QCOMPARE(loadSettings(sources)->settings.data, "/x/assay");
    sources.environment.emplace_back("ASSAY_DATA", "/d");
    QCOMPARE(loadSettings(sources)->settings.data, "/d");
    sources.overrides = {{"data", {"/o"}}};
    QCOMPARE(loadSettings(sources)->settings.data, "/o");
}

void TestSettings::refusesUnknownKeys()
{
    const QTemporaryDir dir;
    writeFile(dir, "[http]\nconections = 10\n");
    const auto loaded = loadSettings(in(dir));
    ASSAY_FAILS(loaded, ErrorCode::InvalidArgument);
    QVERIFY(loaded.error().message.contains("http.conections") && loaded.error().message.contains("assayd.toml"));
    writeFile(dir, "data = \"/elsewhere\"\n");
    ASSAY_FAILS(loadSettings(in(dir)), ErrorCode::InvalidArgument);
    writeFile(dir, "");
    SettingSources sources = in(dir);
    sources.overrides = {{"nothing", {"1"}}};
    ASSAY_FAILS(loadSettings(sources), ErrorCode::InvalidArgument);
}

void TestSettings::warnsAboutUnknownVariables()
{
    const QTemporaryDir dir;
    SettingSources sources = in(dir);
    sources.environment.emplace_back("ASSAY_TLS_CRET", "/x");
    sources.environment.emplace_back("ASSAY_TOKEN", "secret");
    const auto loaded = loadSettings(sources);
    ASSAY_OK(loaded);
    QCOMPARE(loaded->warnings.size(), 1U);
    QVERIFY(loaded->warnings.front().contains("ASSAY_TLS_CRET"));
}

void TestSettings::refusesValues_data()
{
    QTest::addColumn<QByteArray>("key");
    QTest::addColumn<QByteArray>("value");
    const auto row = [](const char* key, const char* value) {
        QTest::addRow("%s=%s", key, value) << QByteArray(key) << QByteArray(value);
    };
    for (const char* value : {"", "-1", "1.5", "nan", "inf", "1e3", "0", "1000001", "18446744073709551616", " 1", "1 "})
        row("http.connections", value);
    for (const char* value : {"nan", "inf", "-0.1", "", "1e10", "x"})
        row("http.token_rate", value);
    row("listen", "0.0.0.0:1?ingress=trusted");
    row("skills.backend", "tape");
    row("skills.backend", "data|base");
    row("log.level", "loud");
    row("execution", "yes");
}

void TestSettings::refusesValues()
{
    QFETCH(const QByteArray, key);
    QFETCH(const QByteArray, value);
    const QTemporaryDir dir;
    SettingSources sources = in(dir);
    sources.overrides = {{key.toStdString(), {value.toStdString()}}};
    ASSAY_FAILS(loadSettings(sources), ErrorCode::InvalidArgument);
}

void TestSettings::saysWhereAFileIsWrong()
{
    const QTemporaryDir dir;
    writeFile(dir, "[http]\nconnections = = 3\n");
    const auto loaded = loadSettings(in(dir));
    ASSAY_FAILS(loaded, ErrorCode::InvalidArgument);
    QVERIFY2(loaded.error().message.contains("line 2"), loaded.error().message.c_str());
    SettingSources sources = in(dir);
    sources.file = dir.filePath("missing.toml").toStdString();
    ASSAY_FAILS(loadSettings(sources), ErrorCode::NotFound);
}

/// A row that sets another member than it shows, or none, would be a setting that is shown and ignored.
void TestSettings::everyRowSetsWhatItShows()
{
    const Settings defaults;
    std::set<std::string> keys;
    for (const SettingRow& row : settingRows()) {
        QVERIFY(keys.insert(row.key).second);
        Settings changed;
        const std::string before = row.show(defaults);
        bool moved = false;
        for (const char* value :
             {"2000000", "20000000", "7000", "/x", "127.0.0.1:9", "filesystem", "error", "json", "false", "5"}) {
            if (row.set(changed, std::vector<std::string>{value}) && row.show(changed) == value && before != value)
                moved = true;
        }
        QVERIFY2(moved || row.key == "driver", row.key.c_str());
        const auto others = std::ranges::count_if(
            settingRows(), [&](const SettingRow& other) { return other.show(changed) != other.show(defaults); });
        QVERIFY2(others <= 1, row.key.c_str());
    }
}

void TestSettings::theManualHasTheTable()
{
    const auto manual = readFile(ASSAY_SOURCE_DIR "/docs/settings.md", 1 << 20);
    ASSAY_OK(manual);
    QVERIFY2(manual->contains(settingsMarkdown()),
             ("docs/settings.md must hold this table:\n" + settingsMarkdown()).c_str());
}

void TestSettings::keepsTheDataDirectoryPrivate()
{
    const QTemporaryDir dir;
    const std::filesystem::path path = dir.filePath("a/b").toStdString();
    ASSAY_OK(DataDirectory::open(path));
    QCOMPARE(std::filesystem::status(path).permissions(), std::filesystem::perms(0700));
    QVERIFY(std::filesystem::is_directory(path / "tmp"));
    std::filesystem::permissions(path, std::filesystem::perms(0755));
    const auto open = DataDirectory::open(path);
    ASSAY_FAILS(open, ErrorCode::Unavailable);
    QVERIFY(open.error().message.contains("chmod 700"));
    ASSAY_FAILS(DataDirectory::open("/dev/null/x"), ErrorCode::Unavailable);
    ASSAY_FAILS(DataDirectory::open("/dev/null"), ErrorCode::Unavailable);
}

void TestSettings::noEventForgesALogLine()
{
    QCOMPARE(logLine("a\nb\r\x1b[31m\x7f"), "a\\u000ab\\u000d\\u001b[31m\\u007f");
    QCOMPARE(logLine("\xff\xe2\x80\xa8"), "\\xff\\u2028");
    QCOMPARE(logLine("caf\u00e9"), "caf\u00e9");
    QVERIFY(logLine(std::string(10'000, 'x')).size() < 5000);
}

QTEST_APPLESS_MAIN(TestSettings)
#include "tst_settings.moc"
