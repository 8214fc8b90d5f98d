// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/box_spec.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::sandbox::bubblewrap {

/// The descriptors bubblewrap starts with, in this order. It closes those from kArguments on before the box's init
/// runs, kStarted excepted: that one the init closes, which tells that it is there.
enum Descriptor : int { kStdin, kStdout, kStderr, kArguments, kSurfaceFilter, kArgumentFilter, kInfo, kStarted };
inline constexpr std::size_t kDescriptors = 8;

/// A top folder of the box, from a path that bubblewrap can reach, or a link.
struct SystemFolder
{
    std::string source;
    std::string target;
    std::string link; ///< the link's text; then `source` is empty
};

/// Where everything of a box comes from, as paths that bubblewrap can reach.
struct Sources
{
    std::string init;
    std::string devices; ///< a complete /dev; empty: bubblewrap makes it
    std::vector<SystemFolder> system;
    std::vector<std::pair<std::string, std::string>> packages; ///< name, folder
    std::string workspace;                                     ///< empty: bubblewrap makes the file system
    std::string tmp;                                           ///< likewise
};

/// What is in /dev of every box, besides an empty `shm`: these nodes of the host, and links.
inline constexpr std::array<const char*, 5> kDevices{"null", "zero", "full", "random", "urandom"};
inline constexpr std::array<std::pair<const char*, const char*>, 4> kDeviceLinks{{{"fd", "/proc/self/fd"},
                                                                                  {"stdin", "/proc/self/fd/0"},
                                                                                  {"stdout", "/proc/self/fd/1"},
                                                                                  {"stderr", "/proc/self/fd/2"}}};

/// The environment of every box, whole.
std::vector<std::pair<std::string_view, std::string_view>> boxEnvironment();

/// Bubblewrap's options for `--args`, each ended by a NUL.
std::string bwrapOptions(const BoxLimits& limits, const Sources& sources);

} // namespace assay::sandbox::bubblewrap
