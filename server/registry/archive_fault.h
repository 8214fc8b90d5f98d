// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/problem_list.h"

#include <string>
#include <string_view>

namespace assay::registry {

/// `InvalidPackage` with the one problem `corrupt_archive`. `path` is the entry's, when one is to blame.
std::unexpected<Error> corruptArchive(std::string message, std::string_view path = {});

/// `InvalidPackage` with one problem.
std::unexpected<Error> rejectArchive(Problem problem);

/// The problem of an entry that is neither a file nor a folder; `kind` is what it is ("a symbolic link").
Problem linkNotAllowed(std::string_view path, std::string_view kind);

/// Reads exactly `size` bytes at `offset` of a regular file; `corrupt_archive` when it ends before.
Result<std::string> readExactly(int fd, std::uint64_t offset, std::size_t size);

/// Reads up to `size` bytes at `offset`; fewer at the end of the file only.
Result<std::string> readUpTo(int fd, std::uint64_t offset, std::size_t size);

} // namespace assay::registry
