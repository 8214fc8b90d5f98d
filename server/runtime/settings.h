// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/body_limits.h"
#include "server/http/limits.h"
#include "server/registry/package.h"
#include "server/retention/retention_policy.h"
#include "server/sandbox/box_spec.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay::runtime {

/// Everything an operator can set: docs/settings.md is the table, `settingRows()` its source. Each value is used.
struct Settings
{
    std::filesystem::path data; ///< absolute after `loadSettings`
    std::vector<std::string> listen{"127.0.0.1:8473"};
    std::string metricsListen; ///< empty: no metrics
    std::filesystem::path tlsCertificate;
    std::filesystem::path tlsKey;
    std::string logLevel = "info";
    std::string logFormat = "text";
    std::chrono::milliseconds drain{10'000};
    unsigned ioThreads = 1;
    unsigned workerThreads = 256;
    unsigned databaseReaders = 4;
    std::string skillsBackend = "database";
    std::filesystem::path skillsFilesystemRoot;
    registry::PackageLimits package;
    http::Limits http;

    std::string driver = "bubblewrap";
    bool execution = true;
    unsigned maxLiveBoxes = 16;
    unsigned maxLiveBoxesPerScope = 16;
    unsigned maxQueuedRuns = 256;
    std::chrono::milliseconds sessionIdle{900'000};
    std::uint64_t runCacheBytes = 2ULL << 30;
    std::uint64_t runCacheMemoryBytes = 512ULL << 20;
    sandbox::BoxLimits boxCeiling;
    sandbox::CommandLimits commandCeiling;
    api::BodyLimits bodies;

    retention::RetentionDefaults retention;
    std::chrono::milliseconds collectionInterval{3'600'000}; ///< 0: only on demand
    std::chrono::milliseconds collectionStep{20'000};
    std::chrono::milliseconds collectionGrace{3'600'000};
};

/// One setting: its key in assayd.toml ("http.connections"), from which the variable follows (ASSAY_HTTP_CONNECTIONS).
struct SettingRow
{
    std::string key;
    std::string unit; ///< "bytes", "ms", "address", ...
    std::string meaning;
    std::function<Result<void>(Settings&, std::span<const std::string> values)> set;
    std::function<std::string(const Settings&)> show;

    std::string variable() const;
};

/// The one table, in the order of the manual.
const std::vector<SettingRow>& settingRows();

/// Where settings come from; a later one wins: the file, variables, `overrides`.
struct SettingSources
{
    std::vector<std::pair<std::string, std::string>> environment; ///< all variables; only ASSAY_* are looked at
    std::vector<std::pair<std::string, std::vector<std::string>>> overrides; ///< from the command line, by key
    std::filesystem::path file; ///< given by the operator; empty: assayd.toml in the data directory, when there is one
};

struct LoadedSettings
{
    Settings settings;
    std::vector<std::string> warnings; ///< sentences for the log: unknown ASSAY_* variables
};

/// `InvalidArgument` names the source, the key and what is wrong: an unknown key of the file or the command line, a
/// value out of range, a file that is not TOML.
Result<LoadedSettings> loadSettings(const SettingSources& sources);

/// The table of docs/settings.md.
std::string settingsMarkdown();

/// Reads a TOML file into keys and values; values of lists are kept apart, numbers and booleans become text.
Result<std::vector<std::pair<std::string, std::vector<std::string>>>> readTomlFile(const std::filesystem::path& file);

} // namespace assay::runtime
