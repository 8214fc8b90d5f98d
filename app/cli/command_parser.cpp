// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command_parser.h"

#include <CLI/CLI.hpp>

namespace assay::cli {

namespace {

constexpr int kUsage = 2;

} // namespace

Command Command::add(const std::string& name, const std::string& about)
{
    return Command(*m_app->add_subcommand(name, about));
}

Command Command::addGroup(const std::string& name, const std::string& about)
{
    CLI::App* app = m_app->add_subcommand(name, about);
    app->require_subcommand(1);
    return Command(*app);
}

Command& Command::required(const std::string& name, std::string& value, const std::string& about)
{
    m_app->add_option(name, value, about)->required();
    return *this;
}

Command& Command::option(const std::string& name, std::string& value, const std::string& about)
{
    CLI::Option* option = m_app->add_option(name, value, about);
    if (!value.empty())
        option->capture_default_str();
    return *this;
}

Command& Command::choice(const std::string& name, std::string& value, const std::string& about,
                         const std::vector<std::string>& values)
{
    option(name, value, about);
    m_app->get_option(name)->check(CLI::IsMember(values));
    return *this;
}

Command& Command::list(const std::string& name, std::vector<std::string>& values, const std::string& about)
{
    CLI::Option* option = m_app->add_option(name, values, about);
    if (name.starts_with('-'))
        option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
    return *this;
}

Command& Command::number(const std::string& name, std::uint64_t& value, const std::string& about, std::uint64_t least,
                         std::uint64_t most)
{
    CLI::Option* option = m_app->add_option(name, value, about)->check(CLI::Range(least, most));
    if (value != 0)
        option->capture_default_str();
    return *this;
}

Command& Command::size(const std::string& name, std::uint64_t& value, const std::string& about)
{
    m_app->add_option(name, value, about)->transform(CLI::AsSizeValue(false));
    return *this;
}

Command& Command::flag(const std::string& name, bool& value, const std::string& about)
{
    m_app->add_flag(name, value, about);
    return *this;
}

Command& Command::exclude(const std::string& one, const std::string& other)
{
    m_app->get_option(one)->excludes(m_app->get_option(other));
    return *this;
}

void Command::onParsed(std::function<void()> action) { m_app->callback(std::move(action)); }

Parsed parseCommandLine(int argc, char** argv, const std::string& version,
                        const std::function<void(Command&)>& addCommands)
{
    CLI::App app("Assay's command line: publish skills, run them in boxes, read what came out.", "assayctl");
    app.set_version_flag("--version", "assayctl " + version);
    app.fallthrough(); // global flags may stand anywhere
    app.require_subcommand(1);
    app.footer("Exit status: 0 done, 1 the run or check failed, 2 usage, 3 unreachable, 4 refused or denied, 5 invalid "
               "package.\n`assayctl run` and `assayctl exec` exit like the script. See assayctl(1).");
    try {
        Command root(app);
        addCommands(root);
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return {false, app.exit(error) == 0 ? 0 : kUsage};
    }
    return {true, 0};
}

} // namespace assay::cli
