// SPDX-License-Identifier: Apache-2.0
#include "app/daemon/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace assay::daemon {

namespace {

constexpr int kUsage = 2;

std::vector<std::pair<std::string, std::string>> environment()
{
    std::vector<std::pair<std::string, std::string>> out;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto equals = std::min(text.find('='), text.size());
        out.emplace_back(text.substr(0, equals), text.substr(std::min(equals + 1, text.size())));
    }
    return out;
}

bool splitSetting(const std::string& text, runtime::SettingSources& out)
{
    const auto equals = text.find('=');
    if (equals == std::string::npos)
        return false;
    out.overrides.emplace_back(text.substr(0, equals), std::vector{text.substr(equals + 1)});
    return true;
}

} // namespace

CommandLine readCommandLine(int argc, char** argv)
{
    CommandLine out;
    std::string data;
    std::string file;
    std::vector<std::string> listen;
    std::vector<std::string> settings;
    CLI::App app("assayd: the Assay server");
    app.set_version_flag("--version", "assayd " ASSAY_VERSION);
    app.add_option("--data", data, "The data directory (default: $XDG_DATA_HOME/assay)");
    app.add_option("--listen", listen, "An address to serve on; may be repeated (default: 127.0.0.1:8473)")
        ->expected(1)
        ->take_all();
    app.add_option("--config", file, "The settings file (default: assayd.toml in the data directory)");
    app.add_option("--set", settings, "KEY=VALUE: any setting of the manual; may be repeated")->expected(1)->take_all();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        out.exitStatus = app.exit(error) == 0 ? 0 : kUsage;
        return out;
    }
    out.sources.environment = environment();
    out.sources.file = file;
    for (const std::string& setting : settings)
        if (!splitSetting(setting, out.sources)) {
            std::cerr << "assayd: --set wants KEY=VALUE, not \"" << setting << "\"\n";
            out.exitStatus = kUsage;
        }
    if (!data.empty())
        out.sources.overrides.emplace_back("data", std::vector{data});
    if (!listen.empty())
        out.sources.overrides.emplace_back("listen", listen);
    return out;
}

} // namespace assay::daemon
