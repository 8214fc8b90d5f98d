// SPDX-License-Identifier: Apache-2.0
#include "server/runtime/settings.h"

#include "server/http/listen_address.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <format>
#include <string_view>

namespace assay::runtime {

namespace {

constexpr std::uint64_t kMany = 1'000'000;
constexpr std::uint64_t kManyBytes = 1ULL << 40;
constexpr std::uint64_t kDayMs = 86'400'000;

using Values = std::span<const std::string>;

Result<std::string_view> single(const std::string& key, Values values)
{
    if (values.size() != 1)
        return fail(ErrorCode::InvalidArgument, key + " takes one value");
    return std::string_view(values.front());
}

std::unexpected<Error> outOfRange(const std::string& key, const std::string& range)
{
    return fail(ErrorCode::InvalidArgument, key + " is a whole number " + range);
}

template <typename T> std::uint64_t plain(const T& value)
{
    if constexpr (std::is_same_v<T, std::chrono::milliseconds>)
        return static_cast<std::uint64_t>(value.count());
    else
        return static_cast<std::uint64_t>(value);
}

/// A whole number from `low` to `high`; `access` gives the member.
template <typename Access>
SettingRow number(std::string key, std::string unit, std::string meaning, std::uint64_t low, std::uint64_t high,
                  Access access)
{
    SettingRow row{.key = key, .unit = std::move(unit), .meaning = std::move(meaning), .set = {}, .show = {}};
    row.set = [=](Settings& settings, Values values) -> Result<void> {
        auto text = single(key, values);
        if (!text)
            return forward(text);
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
        if (error != std::errc{} || end != text->data() + text->size() || value < low || value > high)
            return outOfRange(key, "from " + std::to_string(low) + " to " + std::to_string(high));
        auto& member = access(settings);
        member = static_cast<std::remove_reference_t<decltype(member)>>(value);
        return {};
    };
    row.show = [access](const Settings& settings) {
        return std::to_string(plain(access(const_cast<Settings&>(settings))));
    };
    return row;
}

/// A finite number with a fraction, within its bounds.
template <typename Access>
SettingRow fraction(std::string key, std::string unit, std::string meaning, double least, double most, Access access)
{
    SettingRow row{.key = key, .unit = std::move(unit), .meaning = std::move(meaning), .set = {}, .show = {}};
    row.set = [=](Settings& settings, Values values) -> Result<void> {
        auto text = single(key, values);
        if (!text)
            return forward(text);
        double value = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
        const bool whole = error == std::errc{} && end == text->data() + text->size();
        if (!whole || !std::isfinite(value) || value < least || value > most)
            return fail(ErrorCode::InvalidArgument, std::format("{} is a number from {} to {:.0f}", key, least, most));
        access(settings) = value;
        return {};
    };
    row.show = [access](const Settings& settings) {
        return std::format("{}", access(const_cast<Settings&>(settings)));
    };
    return row;
}

/// A rate or burst; 0 is no limit.
template <typename Access> SettingRow rate(std::string key, std::string unit, std::string meaning, Access access)
{
    return fraction(std::move(key), std::move(unit), std::move(meaning), 0, 1e9, access);
}

template <typename Access> SettingRow text(std::string key, std::string unit, std::string meaning, Access access)
{
    SettingRow row{.key = key, .unit = std::move(unit), .meaning = std::move(meaning), .set = {}, .show = {}};
    row.set = [=](Settings& settings, Values values) -> Result<void> {
        auto value = single(key, values);
        if (!value)
            return forward(value);
        access(settings) = *value;
        return {};
    };
    row.show = [access](const Settings& settings) {
        return std::filesystem::path(access(const_cast<Settings&>(settings))).string();
    };
    return row;
}

/// One of a few words, joined by `|` in `words`, which is also what the table shows as the unit.
template <typename Access>
SettingRow choice(std::string key, const std::string& words, std::string meaning, Access access)
{
    SettingRow row = text(key, words, std::move(meaning), access);
    row.set = [=, set = row.set](Settings& settings, Values values) -> Result<void> {
        if (values.size() == 1 && !("|" + words + "|").contains("|" + values.front() + "|"))
            return fail(ErrorCode::InvalidArgument, key + " is one of " + words);
        return set(settings, values);
    };
    return row;
}

SettingRow listenRow()
{
    SettingRow row{
        .key = "listen", .unit = "addresses", .meaning = "where to serve; see docs/http.md", .set = {}, .show = {}};
    row.set = [](Settings& settings, Values values) -> Result<void> {
        settings.listen.clear();
        for (const std::string& value : values) {
            if (auto parsed = http::parseListenAddress(value); !parsed)
                return forward(parsed);
            settings.listen.push_back(value);
        }
        return settings.listen.empty() ? fail(ErrorCode::InvalidArgument, "listen needs an address") : Result<void>{};
    };
    row.show = [](const Settings& settings) { return settings.listen.front(); };
    return row;
}

SettingRow executionRow()
{
    SettingRow row{
        .key = "execution", .unit = "true|false", .meaning = "false refuses every run", .set = {}, .show = {}};
    row.set = [](Settings& settings, Values values) -> Result<void> {
        if (values.size() != 1 || (values.front() != "true" && values.front() != "false"))
            return fail(ErrorCode::InvalidArgument, "execution is true or false");
        settings.execution = values.front() == "true";
        return {};
    };
    row.show = [](const Settings& settings) { return settings.execution ? "true" : "false"; };
    return row;
}

#define ASSAY_MEMBER(path) [](Settings& s) -> auto& { return s.path; }

void addServer(std::vector<SettingRow>& rows)
{
    rows.push_back(text("data", "folder", "the data directory; default $XDG_DATA_HOME/assay", ASSAY_MEMBER(data)));
    rows.push_back(listenRow());
    rows.push_back(
        text("metrics.listen", "address", "where to serve GET /metrics; empty: nowhere", ASSAY_MEMBER(metricsListen)));
    rows.push_back(text("tls.cert", "file", "certificate chain in PEM; TCP listeners then speak TLS",
                        ASSAY_MEMBER(tlsCertificate)));
    rows.push_back(text("tls.key", "file", "its private key in PEM", ASSAY_MEMBER(tlsKey)));
    rows.push_back(choice("log.level", "debug|info|warning|error", "the least that is logged, to standard error",
                          ASSAY_MEMBER(logLevel)));
    rows.push_back(choice("log.format", "text|json",
                          "lines for people, or one JSON object a line; see docs/operations.md",
                          ASSAY_MEMBER(logFormat)));
    rows.push_back(number("drain_ms", "ms", "how long requests in progress may take when the server stops", 0, kDayMs,
                          ASSAY_MEMBER(drain)));
    rows.push_back(number("threads.io", "count", "threads that serve sockets", 1, 64, ASSAY_MEMBER(ioThreads)));
    rows.push_back(number("threads.workers", "count", "threads for requests, at most; made on demand", 4, 4096,
                          ASSAY_MEMBER(workerThreads)));
    rows.push_back(number("database.readers", "count", "connections that read", 1, 64, ASSAY_MEMBER(databaseReaders)));
}

void addSkills(std::vector<SettingRow>& rows)
{
    rows.push_back(choice("skills.backend", "database|filesystem", "where packages and artifacts are kept",
                          ASSAY_MEMBER(skillsBackend)));
    rows.push_back(
        text("skills.filesystem_root", "folder", "for the backend filesystem", ASSAY_MEMBER(skillsFilesystemRoot)));
    rows.push_back(
        number("package.file_bytes", "bytes", "one file of a package", 1, kManyBytes, ASSAY_MEMBER(package.fileBytes)));
    rows.push_back(number("package.bytes", "bytes", "one package", 1, kManyBytes, ASSAY_MEMBER(package.packageBytes)));
    rows.push_back(number("package.files", "count", "files of one package", 1, kMany, ASSAY_MEMBER(package.files)));
    rows.push_back(number("package.archive_ratio", "ratio", "unpacked to packed size of an archive, above 1 MiB", 1,
                          kMany, ASSAY_MEMBER(package.archiveRatio)));
}

/// What a run has that asks for nothing, and the most it may ask for.
void addCeilings(std::vector<SettingRow>& rows)
{
    rows.push_back(fraction("runs.max_cpus", "processors", "of one run", 0.01, 4096, ASSAY_MEMBER(boxCeiling.cpus)));
    rows.push_back(number("runs.max_memory_bytes", "bytes", "memory of one run", 16 << 20, kManyBytes,
                          ASSAY_MEMBER(boxCeiling.memoryBytes)));
    rows.push_back(
        number("runs.max_pids", "count", "processes of one run at once", 8, 1 << 20, ASSAY_MEMBER(boxCeiling.pids)));
    rows.push_back(number("runs.max_workspace_bytes", "bytes", "the workspace of one run", 1 << 20, kManyBytes,
                          ASSAY_MEMBER(boxCeiling.workspaceBytes)));
    rows.push_back(
        number("runs.tmp_bytes", "bytes", "/tmp of one run", 1 << 20, kManyBytes, ASSAY_MEMBER(boxCeiling.tmpBytes)));
    rows.push_back(number("runs.max_wall_ms", "ms", "one command", 100, 7 * kDayMs, ASSAY_MEMBER(commandCeiling.wall)));
    rows.push_back(number("runs.max_output_bytes", "bytes", "kept of each stream of a command", 4096, 64 << 20,
                          ASSAY_MEMBER(commandCeiling.outputBytes)));
}

void addBodies(std::vector<SettingRow>& rows)
{
    rows.push_back(number("http.json_bytes", "bytes", "a body that is a small JSON object", 4096, kManyBytes,
                          ASSAY_MEMBER(bodies.json)));
    rows.push_back(number("http.package_json_bytes", "bytes", "a package as JSON", 4096, kManyBytes,
                          ASSAY_MEMBER(bodies.packageJson)));
    rows.push_back(number("http.archive_bytes", "bytes", "a package as an archive", 4096, kManyBytes,
                          ASSAY_MEMBER(bodies.archive)));
    rows.push_back(number("http.run_bytes", "bytes", "a run or a command with its input and files", 4096, kManyBytes,
                          ASSAY_MEMBER(bodies.run)));
}

void addRuns(std::vector<SettingRow>& rows)
{
    rows.push_back(choice("driver", "bubblewrap", "the driver of a run that names none", ASSAY_MEMBER(driver)));
    rows.push_back(executionRow());
    rows.push_back(number("runs.live", "count", "boxes at once", 1, kMany, ASSAY_MEMBER(maxLiveBoxes)));
    rows.push_back(number("runs.live_per_scope", "count", "boxes at once of one scope", 1, kMany,
                          ASSAY_MEMBER(maxLiveBoxesPerScope)));
    rows.push_back(number("runs.queued", "count", "waiting runs; more are refused with queue_full", 0, kMany,
                          ASSAY_MEMBER(maxQueuedRuns)));
    rows.push_back(number("runs.session_idle_ms", "ms", "a session without a command for so long is closed", 1000,
                          kDayMs, ASSAY_MEMBER(sessionIdle)));
    rows.push_back(number("runs.cache_bytes", "bytes", "package trees kept on disk for boxes", 0, kManyBytes,
                          ASSAY_MEMBER(runCacheBytes)));
    rows.push_back(number("runs.cache_memory_bytes", "bytes",
                          "package trees kept in memory for boxes; never more than a quarter of the machine's memory",
                          0, kManyBytes, ASSAY_MEMBER(runCacheMemoryBytes)));
    addCeilings(rows);
}

void addRetention(std::vector<SettingRow>& rows)
{
    constexpr std::uint64_t kMaxDays = retention::kMaxDays;
    rows.push_back(number("retention.runs_days", "days", "ended runs are kept; 0: for ever; see docs/retention.md", 0,
                          kMaxDays, ASSAY_MEMBER(retention.runsDays)));
    rows.push_back(number("retention.artifacts_days", "days", "artifacts are kept, as long as their run; 0: for ever",
                          0, kMaxDays, ASSAY_MEMBER(retention.artifactsDays)));
    rows.push_back(number("retention.revisions_days", "days",
                          "revisions are kept once withdrawn, or their skill deleted; 0: for ever", 0, kMaxDays,
                          ASSAY_MEMBER(retention.revisionsDays)));
    rows.push_back(number("collection.interval_ms", "ms", "between two collections; 0: only when an operator asks", 0,
                          30 * kDayMs, ASSAY_MEMBER(collectionInterval)));
    rows.push_back(number("collection.step_ms", "ms", "a collection works on one kind for so long at most", 10, kDayMs,
                          ASSAY_MEMBER(collectionStep)));
    rows.push_back(number("collection.grace_ms", "ms", "a younger file of the package store is left alone", 0, kDayMs,
                          ASSAY_MEMBER(collectionGrace)));
}

void addHttp(std::vector<SettingRow>& rows)
{
    rows.push_back(number("http.head_bytes", "bytes", "request line and header fields", 512, 1 << 20,
                          ASSAY_MEMBER(http.headBytes)));
    rows.push_back(number("http.head_fields", "count", "header fields", 4, 10'000, ASSAY_MEMBER(http.headFields)));
    rows.push_back(
        number("http.target_bytes", "bytes", "the request target", 64, 1 << 20, ASSAY_MEMBER(http.targetBytes)));
    rows.push_back(number("http.connections", "count", "connections in all", 1, kMany, ASSAY_MEMBER(http.connections)));
    rows.push_back(number("http.connections_per_peer", "count", "of one address, /64 or local user", 1, kMany,
                          ASSAY_MEMBER(http.connectionsPerPeer)));
    rows.push_back(
        number("http.event_streams", "count", "event streams in all", 0, kMany, ASSAY_MEMBER(http.eventStreams)));
    rows.push_back(number("http.requests_per_connection", "count", "then the connection is closed", 1, 1'000'000'000,
                          ASSAY_MEMBER(http.requestsPerConnection)));
    rows.push_back(number("http.handshake_ms", "ms", "the TLS handshake", 100, kDayMs, ASSAY_MEMBER(http.handshake)));
    rows.push_back(number("http.head_ms", "ms", "from the first byte of a request to the end of its head", 100, kDayMs,
                          ASSAY_MEMBER(http.head)));
    rows.push_back(number("http.idle_ms", "ms", "between requests", 100, kDayMs, ASSAY_MEMBER(http.idle)));
    rows.push_back(number("http.body_grace_ms", "ms", "a body, besides the time its bytes earn", 100, kDayMs,
                          ASSAY_MEMBER(http.bodyGrace)));
    rows.push_back(number("http.write_grace_ms", "ms", "a reply, besides the time its bytes earn", 100, kDayMs,
                          ASSAY_MEMBER(http.writeGrace)));
    rows.push_back(number("http.min_bytes_per_second", "bytes/s", "the rate at which bytes earn time", 1, kManyBytes,
                          ASSAY_MEMBER(http.minBytesPerSecond)));
    rows.push_back(number("http.heartbeat_ms", "ms", "a comment on a silent event stream", 100, kDayMs,
                          ASSAY_MEMBER(http.heartbeat)));
    rows.push_back(
        rate("http.token_rate", "requests/s", "of one token; 0: no limit", ASSAY_MEMBER(http.tokenRequestsPerSecond)));
    rows.push_back(rate("http.token_burst", "requests", "that a token may save up", ASSAY_MEMBER(http.tokenBurst)));
    rows.push_back(rate("http.peer_rate", "requests/s", "of one peer without an admitted token; 0: no limit",
                        ASSAY_MEMBER(http.peerRequestsPerSecond)));
    rows.push_back(rate("http.peer_burst", "requests", "that a peer may save up", ASSAY_MEMBER(http.peerBurst)));
    rows.push_back(number("http.body_memory_bytes", "bytes", "request bodies in memory, of all connections together",
                          1 << 20, kManyBytes, ASSAY_MEMBER(http.bodyMemoryBytes)));
}

#undef ASSAY_MEMBER

} // namespace

const std::vector<SettingRow>& settingRows()
{
    static const std::vector<SettingRow> rows = [] {
        std::vector<SettingRow> made;
        addServer(made);
        addSkills(made);
        addRuns(made);
        addRetention(made);
        addHttp(made);
        addBodies(made);
        return made;
    }();
    return rows;
}

std::string SettingRow::variable() const
{
    std::string out = "ASSAY_" + key;
    std::ranges::transform(out, out.begin(), [](char c) {
        return c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    });
    return out;
}

std::string settingsMarkdown()
{
    const Settings defaults;
    std::string out = "| key | variable | unit | default | meaning |\n|---|---|---|---|---|\n";
    for (const SettingRow& row : settingRows()) {
        std::string unit = row.unit;
        for (std::size_t at = 0; (at = unit.find('|', at)) != std::string::npos; at += 2)
            unit.insert(at, 1, '\\');
        const std::string shown = row.show(defaults);
        out += "| `" + row.key + "` | `" + row.variable() + "` | " + unit + " | " +
               (shown.empty() ? "" : "`" + shown + "`") + " | " + row.meaning + " |\n";
    }
    return out;
}

} // namespace assay::runtime
