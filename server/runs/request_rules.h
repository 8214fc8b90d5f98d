// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/run.h"
#include "server/core/error.h"

namespace assay::runs {

/// Limits on what one request may carry; docs/runs.md lists them.
struct RequestLimits
{
    static constexpr std::size_t kArguments = 256;
    static constexpr std::size_t kArgumentBytes = 96 << 10; ///< of all arguments together
    static constexpr std::size_t kVariables = 64;
    static constexpr std::size_t kVariableBytes = 32 << 10;
    static constexpr std::size_t kStdinBytes = 8 << 20;
    static constexpr std::size_t kFiles = 256;
    static constexpr std::size_t kFileBytes = 8 << 20; ///< of all files together
    static constexpr std::size_t kOutputs = 64;
    static constexpr std::size_t kGlobBytes = 512;
    static constexpr std::size_t kSkills = 64;
    static constexpr std::uint64_t kWaitMs = 600'000;
};

/// Judges what needs no look-up: members that exclude each other, sizes, counts, bytes that no program can take.
/// `InvalidArgument` with the pointer of the first fault. Pure, thread-safe.
Result<void> checkStartRun(const contract::StartRun& request);
Result<void> checkStartCommand(const contract::StartCommand& request);

/// A relative path that stays where it is put: no empty, `.` or `..` segment, no control character, at most 512 bytes.
bool isSafeRelativePath(std::string_view path);

} // namespace assay::runs
