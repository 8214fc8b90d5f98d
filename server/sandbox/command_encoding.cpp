// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/command_encoding.h"

#include "server/sandbox/channel/payload.h"
#include "server/sandbox/channel/protocol.h"

#include <algorithm>
#include <array>

namespace assay::sandbox {

namespace {

constexpr std::uint32_t kUmask = 022;
constexpr std::uint64_t kMaxOpenFiles = 4096;
constexpr std::uint64_t kNoFileLimit = 0; // the sizes of the two writable mounts bound every file

void appendNumber(std::string& out, std::uint64_t value, std::size_t bytes)
{
    std::array<char, 8> buffer;
    channel::PayloadWriter(buffer).number(value);
    out.append(buffer.data(), bytes);
}

/// With its final zero, so that the box can use it where it lies.
void appendText(std::string& out, std::string_view text)
{
    appendNumber(out, text.size() + 1, 4);
    out.append(text).push_back('\0');
}

bool hasZero(std::string_view text) { return text.find('\0') != std::string_view::npos; }

Result<void> check(const Command& command)
{
    if (command.argv.empty() || command.argv.front().empty())
        return fail(ErrorCode::InvalidArgument, "a command names a program: argv is empty");
    if (command.argv.size() > channel::kMaxArguments)
        return fail(ErrorCode::InvalidArgument, "a command has at most 4096 arguments");
    if (std::ranges::any_of(command.argv, hasZero) || hasZero(command.cwd))
        return fail(ErrorCode::InvalidArgument, "an argument or the working directory holds a zero byte");
    if (command.cwd.empty() || command.cwd.front() != '/')
        return fail(ErrorCode::InvalidArgument, "the working directory is an absolute path");
    for (const auto& [name, value] : command.env) {
        if (name.empty() || name.find('=') != std::string::npos || hasZero(name) || hasZero(value))
            return fail(ErrorCode::InvalidArgument,
                        "a variable's name is empty or holds '=', or one holds a zero byte");
    }
    return {};
}

} // namespace

std::vector<std::string> commandEnvironment(const std::vector<std::pair<std::string, std::string>>& extra)
{
    std::vector<std::pair<std::string, std::string>> all{
        {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
        {"HOME", "/workspace"},
        {"LANG", "C.UTF-8"},
        {"TMPDIR", "/tmp"},
        {"USER", "assay"},
    };
    for (const auto& [name, value] : extra) {
        const auto same = std::ranges::find(all, name, &std::pair<std::string, std::string>::first);
        if (same == all.end())
            all.emplace_back(name, value);
        else
            same->second = value;
    }
    std::vector<std::string> lines;
    for (const auto& [name, value] : all)
        lines.push_back(name + "=" + value);
    return lines;
}

Result<std::string> encodeCommand(const Command& command)
{
    if (auto checked = check(command); !checked)
        return forward(checked);
    const std::vector<std::string> environment = commandEnvironment(command.env);
    if (environment.size() > channel::kMaxVariables)
        return fail(ErrorCode::InvalidArgument, "a command has at most 1024 variables");
    std::string out;
    appendNumber(out, channel::kOutputWindow, 4);
    appendNumber(out, channel::kOutputWindow, 4);
    appendNumber(out, kUmask, 4);
    appendNumber(out, kMaxOpenFiles, 8);
    appendNumber(out, kNoFileLimit, 8);
    appendText(out, command.cwd);
    appendNumber(out, command.argv.size(), 4);
    for (const std::string& argument : command.argv)
        appendText(out, argument);
    appendNumber(out, environment.size(), 4);
    for (const std::string& variable : environment)
        appendText(out, variable);
    if (out.size() > channel::kMaxCommandBytes)
        return fail(ErrorCode::InvalidArgument, "a command with its variables has at most 1 MiB");
    return out;
}

} // namespace assay::sandbox
