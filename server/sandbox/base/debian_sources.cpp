// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/base/debian_sources.h"

#include "server/sandbox/base/program.h"

namespace assay::sandbox::base {

namespace {

Result<std::string> sourceLabelled(const std::string& label, std::chrono::steady_clock::time_point deadline,
                                   std::stop_token cancel)
{
    std::string first;
    Program program{.argv = {"apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages",
                             "Origin: Debian", "Label: " + label},
                    .environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"},
                    .input = {},
                    .deadline = deadline,
                    .cancel = std::move(cancel),
                    .onLine = [&](std::string_view line) {
                        if (first.empty())
                            first = line;
                    }};
    if (auto done = runProgram(program); !done)
        return forward(done);
    return first;
}

} // namespace

Result<std::string> debianSources(const std::string& suite, std::chrono::steady_clock::time_point deadline,
                                  std::stop_token cancel)
{
    const auto main = sourceLabelled("Debian", deadline, cancel);
    if (!main)
        return main;
    if (main->empty())
        return fail(ErrorCode::Unavailable, "this machine's configuration names no Debian package source; add one to "
                                            "/etc/apt, run apt-get update, then try again");
    const auto security = sourceLabelled("Debian-Security", deadline, cancel);
    std::string lines = "deb " + *main + " " + suite + " main\n";
    if (security && !security->empty())
        lines += "deb " + *security + " " + suite + "-security main\n";
    return lines;
}

} // namespace assay::sandbox::base
