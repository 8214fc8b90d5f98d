// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace assay::sandbox::base {

/// A program that is run to its end: looked up on the path, with a given environment, nothing on standard input unless
/// `input`, both outputs read as lines.
struct Program
{
    std::vector<std::string> argv;
    std::vector<std::string> environment; ///< "NAME=value"
    std::string input;                    ///< 64 KiB at most: it is written before the output is read
    std::chrono::steady_clock::time_point deadline;
    std::stop_token cancel;
    std::function<void(std::string_view line)> onLine;
};

/// `Unavailable` when the program is missing or ends with another status than 0 (the last lines are in `detail`),
/// `Cancelled` and `Timeout` after it was ended, first politely.
Result<void> runProgram(const Program& program);

} // namespace assay::sandbox::base
