// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace assay::cli {

namespace {

struct Options
{
    std::string data;
    std::vector<std::string> listen;
};

/// Becomes `assayd`, the program beside this one: there is one server, with one set of settings.
Result<int> serve(Context&, const Options& options)
{
    std::error_code fault;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", fault);
    const std::string program = (self.parent_path() / "assayd").string();
    std::vector<std::string> words{program};
    if (!options.data.empty())
        words.insert(words.end(), {"--data", options.data});
    for (const std::string& address : options.listen)
        words.insert(words.end(), {"--listen", address});
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    return fail(ErrorCode::Unavailable, "the server program " + program + " cannot be started: " +
                                            std::strerror(errno) + "; install assayd beside assayctl");
}

} // namespace

void addServe(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("serve", "Be the server, for a quick start: assayd with these settings");
    command.option("--data", options->data, "Data directory [ASSAY_DATA]");
    command.list("--listen", options->listen, "HOST:PORT or unix:/PATH; repeat for more [ASSAY_LISTEN]");
    onCommand(command, context, std::move(options), serve);
}

} // namespace assay::cli
