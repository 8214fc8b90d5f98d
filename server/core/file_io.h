// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/core/unique_fd.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace assay {

/// Opens with O_CLOEXEC; the error's detail names the path. `NotFound` when it does not exist.
Result<UniqueFd> openFile(const std::filesystem::path& path, int flags, unsigned mode = 0600);

/// Reads a regular file whole. `TooLarge` above `limitBytes`, `NotFound` when it does not exist.
Result<std::string> readFile(const std::filesystem::path& path, std::uint64_t limitBytes);

/// Writes all of `bytes`, through short writes and EINTR.
Result<void> writeAll(int fd, std::string_view bytes);

/// Replaces `path` so that after a crash it holds the old bytes or the new, never a mix: a temporary file beside it,
/// fsync, rename, fsync of the folder.
Result<void> replaceFileDurably(const std::filesystem::path& path, std::string_view bytes, unsigned mode = 0600);

/// fsync(2) of a folder, so that names made in it survive a crash.
Result<void> syncDirectory(const std::filesystem::path& directory);

/// An unlinked, empty file in `directory` (O_TMPFILE): nobody else can open it and nothing is left after a crash.
Result<UniqueFd> openUnnamedFile(const std::filesystem::path& directory);

} // namespace assay
