// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/bubblewrap/arguments.h"
#include "server/sandbox/bubblewrap/launcher.h"
#include "server/sandbox/seccomp/filter.h"

#include <array>
#include <string>
#include <vector>

namespace assay::sandbox::bubblewrap {

/// What one start needs, and what of it the server keeps. The ends that bubblewrap gets are closed with this object.
struct Launch
{
    Sources sources;

    struct Mount
    {
        UniqueFd fd;
        std::string target;
    };
    std::vector<Mount> mounts;

    UniqueFd channel; ///< the server's end
    UniqueFd info;
    UniqueFd started;
    UniqueFd messages;

    std::array<UniqueFd, kDescriptors> passed; ///< by Descriptor; kStdout stays empty: it is kStdin's socket

    /// Opens the channel, the pipes and the memory files.
    Result<void> openDescriptors(const seccomp::Filter& filter, std::string_view options);
};

/// A spec that no box can be made of: what and why. Limits must be finite and in range, names without surprises.
Result<void> checkSpec(const BoxSpec& spec);

} // namespace assay::sandbox::bubblewrap
