// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/skill_service.h"
#include "server/store/database.h"

#include <array>
#include <cstdio>
#include <filesystem>

namespace assay::bench {

/// Ends the benchmark with a message when a step failed: a rate of failures means nothing.
template <typename T> T must(Result<T> result)
{
    if (!result) {
        std::fprintf(stderr, "failed: %s [%s]\n", result.error().message.c_str(), result.error().detail.c_str());
        std::exit(1);
    }
    if constexpr (!std::is_void_v<T>)
        return std::move(*result);
}

/// Rows of `bytes` random bytes a second into one table, `rowsPerCommit` at a time, WAL and synchronous=FULL, from the
/// C API with nothing around it.
double rawSqliteRate(const std::filesystem::path& file, std::size_t bytes, unsigned rowsPerCommit, double seconds);

/// A list page of 50 and a lookup, in microseconds at the median.
struct ReadTimes
{
    double page = 0;
    double lookup = 0;
};
/// With so many skills in the scope, asked in turns, so that a busy machine slows both.
std::array<ReadTimes, 2> readTimes(const std::filesystem::path& folder, const std::array<unsigned, 2>& skills);

} // namespace assay::bench
