// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/core/unique_fd.h"

#include <string>
#include <vector>

namespace assay::sandbox::bubblewrap {

/// What a launch pad shows besides the machine's system directories.
struct PadSources
{
    std::string init; ///< the bytes of the box's first process; become kPadInit
    UniqueFd etc;     ///< a detached mount; becomes kPadEtc, and the pad's own /etc
};

inline constexpr const char* kPadInit = "/stage/init";
inline constexpr const char* kPadEtc = "/stage/etc";
inline constexpr const char* kPadBase = "/stage/base";
inline constexpr const char* kPadWorkspace = "/stage/workspace";
inline constexpr const char* kPadTmp = "/stage/tmp";
/// The /dev of every box, complete and read-only: bubblewrap would need 0.5 ms to make one for each.
inline constexpr const char* kPadDev = "/stage/dev";

/// Where package number `index` of a box is attached; it exists for kMaxPadPackages.
std::string padPackage(std::size_t index);
inline constexpr std::size_t kMaxPadPackages = 64;

/// The folders of the host that a box without a pinned base sees, and their links ("/bin" -> "usr/bin").
struct HostFolder
{
    std::string path;
    std::string link; ///< empty for a real folder
};
std::vector<HostFolder> hostFolders();

/// Moves the calling thread, and all it starts later, into a mount namespace of its own whose root is a file system in
/// memory with the host's system directories read-only, /proc, five device nodes, and nothing else: not the data
/// directory, not /home, not /run. Needs CAP_SYS_ADMIN; `Unavailable` otherwise. The thread must end rather than do
/// other work, also when this fails.
Result<void> enterLaunchPad(const PadSources& sources);

} // namespace assay::sandbox::bubblewrap
