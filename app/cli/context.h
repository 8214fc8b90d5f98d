// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/api_client.h"
#include "app/cli/console.h"
#include "app/cli/json_fields.h"

#include <atomic>
#include <functional>
#include <memory>

namespace assay::cli {

/// Exit statuses of `assayctl` (api.md, "Command line"). Errors have theirs in `ErrorTraits::exitStatus`.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kRefused = 4;
inline constexpr int kInvalidPackage = 5;

/// What every command gets: the global flags, the console, and the API, which is set up at its first use. One thread.
class Context
{
public:
    explicit Context(const std::atomic<bool>* interrupted) : m_interrupted(interrupted) {}

    SettingsFlags flags;
    bool wantsJson = false; ///< print JSON instead of text
    Console console;
    /// What the parsed command line asks for; gives the exit status. Set by a command's callback, run after the parse.
    std::function<Result<int>()> action;
    /// The folder that findings are below, for messages; set by commands that read one.
    std::string folder;

    /// The API of the server that the settings name. Fails when the settings cannot be read.
    Result<ApiClient*> api();
    const std::atomic<bool>* interrupted() const { return m_interrupted; }

    bool asJson() const { return wantsJson; }
    /// Prints `value` as JSON, or the text that `describe` makes of it.
    void print(const json::value& value, const std::function<std::string(const json::value&)>& describe);

private:
    const std::atomic<bool>* m_interrupted;
    std::unique_ptr<HttpClient> m_http;
    std::unique_ptr<ApiClient> m_api;
};

/// Reads a whole file, or standard input for "-". `TooLarge` above `limitBytes`, with the limit in the message.
Result<std::string> readInput(const std::string& path, std::uint64_t limitBytes);

/// What to do when the file to write exists.
enum class Existing : std::uint8_t { Refuse, Replace };

/// Writes a downloaded file whole or not at all. `Conflict` when it exists and may not be replaced.
Result<void> writeOutput(const std::string& path, std::string_view bytes, Existing existing);

} // namespace assay::cli
