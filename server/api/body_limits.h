// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay::api {

/// The largest bodies that are read, in bytes; the operator's settings.
struct BodyLimits
{
    std::uint64_t json = 1ULL << 20;
    /// A package as JSON: its 50 MiB with base64 and escapes.
    std::uint64_t packageJson = 80ULL << 20;
    std::uint64_t archive = 64ULL << 20;
    /// A run or a command: input, standard input and files.
    std::uint64_t run = 16ULL << 20;
};

} // namespace assay::api
