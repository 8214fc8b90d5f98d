// SPDX-License-Identifier: Apache-2.0
#include "server/runs/request_rules.h"

#include "server/core/json.h"
#include "server/core/text.h"

#include <algorithm>
#include <format>

namespace assay::runs {

namespace {

using Limits = RequestLimits;

bool hasNul(std::string_view text) { return text.contains('\0'); }

Result<void> checkArguments(const std::vector<std::string>& arguments, std::string_view pointer)
{
    if (arguments.size() > Limits::kArguments)
        return failAt(std::string(pointer),
                      std::format("{} arguments are given; the limit is {}", arguments.size(), Limits::kArguments));
    std::size_t total = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (hasNul(arguments[i]))
            return failAt(std::format("{}/{}", pointer, i), "an argument cannot hold a NUL character");
        total += arguments[i].size() + 1;
    }
    if (total > Limits::kArgumentBytes)
        return failAt(std::string(pointer), std::format("the arguments are {} bytes together; the limit is {}", total,
                                                        Limits::kArgumentBytes));
    return {};
}

bool isVariableName(std::string_view name)
{
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    return !name.empty() && name.size() <= 128 && letter(name.front()) &&
           std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

Result<void> checkEnvironment(const std::map<std::string, std::string>& env, std::string_view pointer)
{
    if (env.size() > Limits::kVariables)
        return failAt(std::string(pointer),
                      std::format("{} variables are given; the limit is {}", env.size(), Limits::kVariables));
    std::size_t total = 0;
    for (const auto& [name, value] : env) {
        const auto at = std::format("{}/{}", pointer, pointerToken(name));
        if (!isVariableName(name))
            return failAt(
                at, "a variable's name is letters, digits and underscores, at most 128, not starting with a digit");
        if (hasNul(value))
            return failAt(at, "a variable cannot hold a NUL character");
        total += name.size() + value.size() + 2;
    }
    if (total > Limits::kVariableBytes)
        return failAt(std::string(pointer), std::format("the variables are {} bytes together; the limit is {}", total,
                                                        Limits::kVariableBytes));
    return {};
}

Result<void> checkStdin(const std::optional<std::string>& text, std::string pointer)
{
    if (text && text->size() > Limits::kStdinBytes)
        return failAt(std::move(pointer),
                      std::format("standard input is {} bytes; the limit is {}", text->size(), Limits::kStdinBytes));
    return {};
}

Result<void> checkCommand(const contract::RunCommand& command)
{
    const bool script = !command.skill.empty() || !command.script.empty();
    if (script && !command.argv.empty())
        return failAt("/command/argv", "a command is either a skill's script or an argv, not both");
    if (script && (command.skill.empty() || command.script.empty()))
        return failAt("/command", "a script needs both skill and script");
    if (!script && (command.argv.empty() || command.argv.front().empty()))
        return failAt("/command", "a command needs skill and script, or a non-empty argv");
    if (!script && !command.args.empty())
        return failAt("/command/args", "args belong to a script; put them into argv");
    if (command.input && command.stdinText)
        return failAt("/command/stdin", "input and stdin exclude each other");
    if (auto ok = checkArguments(command.args, "/command/args"); !ok)
        return ok;
    if (auto ok = checkArguments(command.argv, "/command/argv"); !ok)
        return ok;
    if (auto ok = checkStdin(command.stdinText, "/command/stdin"); !ok)
        return ok;
    return checkEnvironment(command.env, "/command/env");
}

Result<void> checkFiles(const std::map<std::string, std::string>& files)
{
    if (files.size() > Limits::kFiles)
        return failAt("/files", std::format("{} files are given; the limit is {}", files.size(), Limits::kFiles));
    std::size_t total = 0;
    for (const auto& [path, text] : files) {
        if (!isSafeRelativePath(path))
            return failAt("/files/" + pointerToken(path),
                          "a path is relative to /workspace, without empty, \".\" or \"..\" "
                          "segments and control characters, at most 512 bytes");
        total += text.size();
    }
    // In the map's order a folder's file comes right behind a file of the folder's own name, or after names that
    // extend it, so each ancestor is looked up.
    for (const auto& [path, text] : files)
        for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
            if (files.contains(path.substr(0, slash)))
                return failAt("/files/" + pointerToken(path), "a part of this path is itself a file of the request");
    if (total > Limits::kFileBytes)
        return failAt("/files",
                      std::format("the files are {} bytes together; the limit is {}", total, Limits::kFileBytes));
    return {};
}

Result<void> checkOutputs(const std::vector<std::string>& globs)
{
    if (globs.size() > Limits::kOutputs)
        return failAt("/outputs", std::format("{} globs are given; the limit is {}", globs.size(), Limits::kOutputs));
    for (std::size_t i = 0; i < globs.size(); ++i) {
        const bool long_ = globs[i].size() > Limits::kGlobBytes;
        if (long_ || !isSafeRelativePath(globs[i]))
            return failAt(std::format("/outputs/{}", i),
                          "a glob is relative to /workspace/out, without empty, \".\" or "
                          "\"..\" segments, at most 512 bytes");
    }
    return {};
}

Result<void> checkSkills(const contract::StartRun& request)
{
    if (!request.agent.empty() && !request.skills.empty())
        return failAt("/skills", "a run names an agent or skills, not both");
    if (request.skills.size() > Limits::kSkills)
        return failAt("/skills",
                      std::format("{} skills are named; the limit is {}", request.skills.size(), Limits::kSkills));
    for (const auto& [skill, revision] : request.revisions)
        if (!std::ranges::contains(request.skills, skill))
            return failAt("/revisions/" + pointerToken(skill), "this skill is not among the run's skills");
    for (std::size_t i = 0; i < request.skills.size(); ++i)
        if (std::ranges::find(request.skills.begin(), request.skills.begin() + static_cast<std::ptrdiff_t>(i),
                              request.skills[i]) != request.skills.begin() + static_cast<std::ptrdiff_t>(i))
            return failAt(std::format("/skills/{}", i), "this skill is named twice");
    return {};
}

Result<void> checkWait(const std::optional<std::uint64_t>& waitMs)
{
    if (waitMs && *waitMs > Limits::kWaitMs)
        return failAt("/wait_ms", std::format("wait_ms is {}; the limit is {}", *waitMs, Limits::kWaitMs));
    return {};
}

bool isBelow(std::string_view path, std::string_view folder)
{
    return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

Result<void> checkFolder(std::string_view cwd)
{
    if (cwd.empty())
        return {};
    const bool placed = isBelow(cwd, "/workspace") || isBelow(cwd, "/tmp") || isBelow(cwd, "/skills");
    const auto rest = cwd.substr(1);
    if (!placed || !isSafeRelativePath(rest.ends_with('/') ? rest.substr(0, rest.size() - 1) : rest))
        return failAt("/cwd",
                      "cwd is an absolute path below /workspace, /tmp or /skills, without \".\" or \"..\" segments");
    return {};
}

} // namespace

bool isSafeRelativePath(std::string_view path)
{
    if (path.empty() || path.size() > 512 || !isUtf8(path))
        return false;
    if (std::ranges::any_of(path, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
        return false;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const auto segment = path.substr(begin, end - begin);
        if (segment.empty() || segment == "." || segment == ".." || segment.size() > 255)
            return false;
        begin = end + 1;
    }
    return true;
}

Result<void> checkStartRun(const contract::StartRun& request)
{
    if (!request.command && !request.session)
        return failAt("/command", "a run needs a command, or session: true");
    if (auto ok = checkSkills(request); !ok)
        return ok;
    if (request.command)
        if (auto ok = checkCommand(*request.command); !ok)
            return ok;
    if (auto ok = checkFiles(request.files); !ok)
        return ok;
    if (auto ok = checkOutputs(request.outputs); !ok)
        return ok;
    return checkWait(request.waitMs);
}

Result<void> checkStartCommand(const contract::StartCommand& request)
{
    if (request.argv.empty() == request.shell.empty())
        return failAt("/argv", "a command needs either a non-empty argv or shell");
    if (!request.argv.empty() && request.argv.front().empty())
        return failAt("/argv/0", "the program's name is empty");
    if (auto ok = checkArguments(request.argv, "/argv"); !ok)
        return ok;
    if (hasNul(request.shell) || request.shell.size() > Limits::kArgumentBytes)
        return failAt("/shell", std::format("shell is at most {} bytes without NUL", Limits::kArgumentBytes));
    if (auto ok = checkStdin(request.stdinText, "/stdin"); !ok)
        return ok;
    if (auto ok = checkEnvironment(request.env, "/env"); !ok)
        return ok;
    if (auto ok = checkFolder(request.cwd); !ok)
        return ok;
    return checkWait(request.waitMs);
}

} // namespace assay::runs
