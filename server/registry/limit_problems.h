// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/package.h"
#include "server/registry/problem_list.h"

namespace assay::registry {

/// The problems of a package over a limit, each naming what, how much and the limit. `size` may be what was seen when
/// reading stopped.
Problem fileTooLarge(std::string_view path, std::uint64_t size, const PackageLimits& limits);
Problem packageTooLarge(std::uint64_t size, const PackageLimits& limits);
Problem tooManyFiles(std::uint64_t count, const PackageLimits& limits);
Problem ratioTooHigh(std::uint64_t size, std::uint64_t compressedSize, const PackageLimits& limits);

} // namespace assay::registry
