// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <filesystem>
#include <vector>

namespace assay::cli {

/// Limits of the walk.
inline constexpr std::size_t kMaxSkillFolders = 10'000;
inline constexpr int kMaxFolderDepth = 16;

/// The folders at or below `root` that hold a file SKILL.md, in the order of their paths. A skill's own folders are not
/// searched, hidden folders and links are passed over. `NotFound` without the folder, `TooLarge` above the limits.
Result<std::vector<std::filesystem::path>> skillFoldersBelow(const std::filesystem::path& root);

} // namespace assay::cli
