// SPDX-License-Identifier: Apache-2.0
#include "server/runs/script_command.h"

#include <algorithm>
#include <format>

namespace assay::runs {

namespace {

std::vector<std::string> interpreterFor(std::string_view path)
{
    if (path.ends_with(".py"))
        return {"python3", "-E", "-s"};
    if (path.ends_with(".js") || path.ends_with(".mjs") || path.ends_with(".cjs"))
        return {"node"};
    if (path.ends_with(".sh") || path.ends_with(".bash"))
        return {"bash"};
    return {};
}

} // namespace

Result<contract::RevisionFile> findScript(const std::vector<contract::RevisionFile>& files, std::string_view skill,
                                          std::string_view script)
{
    const auto found = std::ranges::find(files, script, &contract::RevisionFile::path);
    if (found == files.end())
        return failAt("/command/script",
                      std::format("skill \"{}\" has no file of this path in its pinned revision; the "
                                  "path is relative to the skill's folder, for example "
                                  "\"scripts/run.py\"",
                                  skill));
    if (!found->executable && interpreterFor(found->path).empty())
        return failAt("/command/script",
                      "this file is not executable and its extension names no interpreter (.py, .js, "
                      ".mjs, .cjs, .sh, .bash); publish it with its executable bit set");
    return *found;
}

std::vector<std::string> scriptArgv(std::string_view skill, const contract::RevisionFile& script,
                                    std::string_view firstBytes, const std::vector<std::string>& args)
{
    const bool runsItself = script.executable && (firstBytes.starts_with("#!") || firstBytes.starts_with("\x7f"
                                                                                                         "ELF"));
    std::vector<std::string> argv;
    if (!runsItself)
        argv = interpreterFor(script.path);
    argv.push_back(std::format("/skills/{}/{}", skill, script.path));
    argv.insert(argv.end(), args.begin(), args.end());
    return argv;
}

} // namespace assay::runs
