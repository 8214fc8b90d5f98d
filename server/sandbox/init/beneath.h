// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <sys/types.h>

namespace assay::sandbox::init {

/// Opens below a held folder, component by component, each without following a link: no path can lead out, and a
/// command that put a link or a special file in the way gets an error. Empty, "." and ".." components and absolute
/// paths are refused (EINVAL).

enum class MissingFolders : std::uint8_t { Refuse, Make };

/// The folder that holds the last component, or -1 with errno. `name` receives that component, zero-terminated within
/// `buffer`.
int openParent(int folder, std::string_view path, MissingFolders missing, char (&buffer)[256], const char*& name);

/// The folder at `path` ("" is a new descriptor of `folder` itself), or -1 with errno.
int openFolder(int folder, const char* name);

/// A regular file for reading, or -1 with errno; never waits for a FIFO or a device (EINVAL for those).
int openRegular(int folder, const char* name);

} // namespace assay::sandbox::init
