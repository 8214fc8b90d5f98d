// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace assay::cli {

/// One command of the command line, with its options: a thin front of CLI11, which only its .cpp includes because it is
/// slow to compile. A cheap handle: the parser owns what it names. Values that are bound here outlive the parser.
class Command
{
public:
    explicit Command(CLI::App& app) : m_app(&app) {}

    /// A command below this one.
    Command add(const std::string& name, const std::string& about);
    /// A command that only holds others: one of them must follow.
    Command addGroup(const std::string& name, const std::string& about);

    /// Names with a dash are options ("-o,--output"), others stand at their place ("PATH"). Each is optional, except
    /// with `required`. The present value is the default.
    Command& required(const std::string& name, std::string& value, const std::string& about = {});
    Command& option(const std::string& name, std::string& value, const std::string& about = {});
    Command& choice(const std::string& name, std::string& value, const std::string& about,
                    const std::vector<std::string>& values);
    /// May be repeated; at a place: all that follows.
    Command& list(const std::string& name, std::vector<std::string>& values, const std::string& about);
    /// A whole number of `least`..`most`.
    Command& number(const std::string& name, std::uint64_t& value, const std::string& about, std::uint64_t least,
                    std::uint64_t most);
    /// Bytes: "1048576", "512KB", "2GB" (powers of 1024).
    Command& size(const std::string& name, std::uint64_t& value, const std::string& about);
    Command& flag(const std::string& name, bool& value, const std::string& about);
    /// Both named options on one command line are a usage error.
    Command& exclude(const std::string& one, const std::string& other);

    /// What happens after the parse when this command was given.
    void onParsed(std::function<void()> action);

private:
    CLI::App* m_app;
};

/// Parses `argv`. 0: a command was parsed. Otherwise the help, the version or the usage error has been printed, and the
/// program ends with `exitStatus`.
struct Parsed
{
    bool run = false;
    int exitStatus = 0;
};
Parsed parseCommandLine(int argc, char** argv, const std::string& version,
                        const std::function<void(Command&)>& addCommands);

} // namespace assay::cli
