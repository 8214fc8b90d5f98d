// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/seccomp/filter.h"

#include <filesystem>
#include <sys/types.h>

namespace assay::sandbox::bubblewrap {

/// `Kernel` uses control groups where they can be had, `Rlimits` never: for a machine whose groups belong to somebody
/// else.
enum class LimitsBy : std::uint8_t { Kernel, Rlimits };

/// What the driver needs to know from the operator. Read once, at `Driver::open`.
struct Options
{
    /// The server's data directory. Boxes of one data directory are one instance; the driver writes below `boxes/`.
    std::filesystem::path dataDirectory;
    /// The static program that becomes process 1 of every box.
    std::filesystem::path initProgram;
    /// bubblewrap 0.8 or newer; looked up in the usual folders when it has no slash.
    std::filesystem::path bwrapProgram = "bwrap";
    /// Who runs bubblewrap, and so owns the box's processes in the machine's eyes, when the server is root. Never 0;
    /// should own no file and run nothing else. A server that is not root runs bubblewrap as itself.
    uid_t uid = 990'001;
    gid_t gid = 990'001;
    seccomp::Families families = seccomp::Families::UnixOnly;
    LimitsBy limits = LimitsBy::Kernel;
};

/// Who the box's processes are inside it.
inline constexpr unsigned kBoxUser = 10'001;
/// How much larger than limits.workspaceBytes the file system is: the init sees use above the limit as a quota that was
/// exceeded, and can still write what it must.
inline constexpr std::uint64_t kWorkspaceSlackBytes = 128U << 10;

} // namespace assay::sandbox::bubblewrap
