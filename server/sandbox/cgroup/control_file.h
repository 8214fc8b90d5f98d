// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::sandbox::cgroup {

/// Writes a control file in one call, as the kernel wants it.
Result<void> writeControl(const std::filesystem::path& file, std::string_view value);

/// A control file that holds one number; empty when it is absent or holds something else ("max").
std::optional<std::uint64_t> readNumber(const std::filesystem::path& file);

/// The number behind `key` in a file of "key number" lines.
std::optional<std::uint64_t> readKeyed(const std::filesystem::path& file, std::string_view key);

/// The same of one that is open, from its start; at most 4 KiB of it. Empty for a closed descriptor.
std::optional<std::uint64_t> readNumber(int file);
std::optional<std::uint64_t> readKeyed(int file, std::string_view key);

/// The process ids in a group, those of its children not included.
std::vector<int> processesIn(const std::filesystem::path& group);

/// Kills what is in the group until nothing is, then removes its folder. True when it is gone (or never was) before
/// `deadline`.
bool removeGroup(const std::filesystem::path& group, std::chrono::steady_clock::time_point deadline);

} // namespace assay::sandbox::cgroup
