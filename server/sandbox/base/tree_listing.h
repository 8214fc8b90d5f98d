// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

namespace assay::sandbox::base {

/// The canonical listing `assay-base-v1` of a tree (docs/base-root.md): the line "assay-base-v1", then for each entry
/// below the root, in the byte order of the paths: path NUL type NUL mode NUL content NUL LF. Owners and times are not
/// part of it.
struct TreeListing
{
    std::string text;
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0; ///< of all regular files
};

/// `InvalidArgument` for an entry that is neither a regular file nor a folder nor a link; `TooLarge` above a million
/// entries; `Cancelled`.
Result<TreeListing> listTree(const std::filesystem::path& root, std::stop_token cancel);

} // namespace assay::sandbox::base
