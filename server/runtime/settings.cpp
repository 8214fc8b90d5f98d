// SPDX-License-Identifier: Apache-2.0
#include "server/runtime/settings.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace assay::runtime {

namespace {

/// Variables of the other programs and of the tests, which the server does not read.
constexpr std::array<std::string_view, 7> kForeignVariables{
    "ASSAY_CONFIG", "ASSAY_URL", "ASSAY_TOKEN", "ASSAY_PROFILE", "ASSAY_BASE", "ASSAY_DEVROOT", "ASSAY_VECTORS"};

const SettingRow* rowOf(std::string_view key)
{
    const auto& rows = settingRows();
    const auto found = std::ranges::find(rows, key, &SettingRow::key);
    return found == rows.end() ? nullptr : &*found;
}

Result<void> apply(const std::string& source, const std::string& key, std::span<const std::string> values,
                   Settings& out)
{
    const SettingRow* row = rowOf(key);
    if (row == nullptr)
        return fail(ErrorCode::InvalidArgument,
                    source + ": there is no setting \"" + key + "\"; docs/settings.md lists all of them");
    auto set = row->set(out, values);
    if (!set)
        return fail(ErrorCode::InvalidArgument, source + ": " + set.error().message);
    return {};
}

/// A list in one variable is separated by commas or blanks.
std::vector<std::string> split(const std::string& key, const std::string& text)
{
    if (key != "listen")
        return {text};
    std::vector<std::string> out;
    std::string_view rest = text;
    while (!rest.empty()) {
        const auto end = std::min(rest.find_first_of(", "), rest.size());
        if (end > 0)
            out.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return out;
}

std::string variable(const SettingSources& sources, std::string_view name)
{
    const auto found = std::ranges::find(sources.environment, name, &std::pair<std::string, std::string>::first);
    return found == sources.environment.end() ? std::string() : found->second;
}

std::filesystem::path dataDirectory(const SettingSources& sources)
{
    for (const auto& [key, values] : sources.overrides)
        if (key == "data" && values.size() == 1)
            return values.front();
    if (const auto named = variable(sources, "ASSAY_DATA"); !named.empty())
        return named;
    if (const auto base = variable(sources, "XDG_DATA_HOME"); base.starts_with('/'))
        return std::filesystem::path(base) / "assay";
    return std::filesystem::path(variable(sources, "HOME")) / ".local/share/assay";
}

Result<void> applyFile(const std::filesystem::path& file, bool isNamed, Settings& out)
{
    auto read = readTomlFile(file);
    if (!read && read.error().code == ErrorCode::NotFound && !isNamed)
        return {};
    if (!read)
        return forward(read);
    for (const auto& [key, values] : *read) {
        if (key == "data" && !isNamed)
            return fail(ErrorCode::InvalidArgument,
                        file.string() + ": \"data\" cannot stand in the file that the data directory holds");
        if (auto applied = apply(file.string(), key, values, out); !applied)
            return applied;
    }
    return {};
}

Result<void> applyEnvironment(const SettingSources& sources, LoadedSettings& out)
{
    for (const auto& [name, value] : sources.environment) {
        if (!name.starts_with("ASSAY_") || std::ranges::contains(kForeignVariables, name))
            continue;
        const auto& rows = settingRows();
        const auto row = std::ranges::find(rows, name, &SettingRow::variable);
        if (row == rows.end()) {
            out.warnings.push_back("the variable " + name + " is not a setting of the server and is ignored");
            continue;
        }
        if (auto applied = apply(name, row->key, split(row->key, value), out.settings); !applied)
            return applied;
    }
    return {};
}

} // namespace

Result<LoadedSettings> loadSettings(const SettingSources& sources)
{
    LoadedSettings out;
    out.settings.data = dataDirectory(sources);
    std::filesystem::path file =
        sources.file.empty() ? std::filesystem::path(variable(sources, "ASSAY_CONFIG")) : sources.file;
    const bool isNamed = !file.empty();
    if (!isNamed)
        file = out.settings.data / "assayd.toml";
    if (auto applied = applyFile(file, isNamed, out.settings); !applied)
        return forward(applied);
    if (auto applied = applyEnvironment(sources, out); !applied)
        return forward(applied);
    for (const auto& [key, values] : sources.overrides)
        if (auto applied = apply("the command line", key, values, out.settings); !applied)
            return forward(applied);
    std::error_code error;
    out.settings.data = std::filesystem::absolute(out.settings.data, error);
    if (error || out.settings.data.empty())
        return fail(ErrorCode::InvalidArgument, "the data directory has no absolute path; set ASSAY_DATA or --data");
    return out;
}

} // namespace assay::runtime
