// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <cstdint>
#include <string_view>

namespace assay::runs {

/// Writes the files of a package's canonical stream (docs/package-format.md) below the open folder `directory`, which
/// must be empty: files 0444 or 0555, folders 0555, whatever the umask. Every folder is made and entered through a
/// held descriptor without following links; a path that is not safe or comes twice ends it. Returns the bytes written.
/// `Internal` for a stream that is not of the form; then the folder holds a part and must be thrown away. Thread-safe.
Result<std::uint64_t> writeTree(int directory, std::string_view canonicalStream);

/// Removes everything below `name` in the folder `parent`, sealed folders too, without following links. What is not
/// there is no error.
Result<void> removeTree(int parent, const char* name);

} // namespace assay::runs
