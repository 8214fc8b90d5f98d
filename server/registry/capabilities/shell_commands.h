// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::registry::capabilities {

/// One simple command of a shell script: its words as written, quotes included.
struct ShellCommand
{
    std::vector<std::string_view> words;
    std::uint32_t line = 1;
    bool takesPipe = false; ///< its input is what another command writes
};

/// Text that a script holds for a command: a here-document.
struct HereDocument
{
    std::string_view text;
    std::uint32_t line = 1;
    std::size_t command = 0; ///< index of the command it is for
};

/// A variable that is read, `$NAME` or `${NAME...}`, before the script sets it.
struct ShellVariable
{
    std::string_view name;
    std::uint32_t line = 1;
};

struct ShellScript
{
    std::vector<ShellCommand> commands; ///< also those in $(...), `...`, (...) and after assignments
    std::vector<HereDocument> documents;
    std::vector<ShellVariable> variables;
};

/// Reads a POSIX shell or bash script, once, without executing or expanding anything. Broken scripts give some
/// commands, never a failure. Views point into `text`. Pure.
ShellScript readShell(std::string_view text, std::uint32_t firstLine);

/// The word without its quotes and backslashes.
std::string unquoted(std::string_view word);

} // namespace assay::registry::capabilities
