// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/error.h"
#include "server/sandbox/box_spec.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace assay::sandbox::base {

/// A stored base root. It lies in <data>/bases/<hex of the digest>/ as `root/`, `manifest` (the canonical listing of
/// docs/base-root.md, whose SHA-256 is the digest) and `info.json`.
struct BaseInfo
{
    std::string digest; ///< "sha256:..."
    Timestamp createdAt{};
    std::uint64_t sizeBytes = 0;       ///< of all regular files
    std::uint64_t files = 0;           ///< entries of the listing
    std::vector<std::string> packages; ///< "name=version", sorted
};

struct BuildOptions
{
    std::string suite = "trixie";
    std::string variant = "essential";                     ///< mmdebstrap's word for what is there besides `packages`
    std::vector<std::string> packages = defaultPackages(); ///< Debian names; what they depend on comes with them
    std::chrono::minutes deadline{30};

    static std::vector<std::string> defaultPackages();
};

/// Called with one line for people, now and then, on the calling thread.
using Progress = std::function<void(std::string_view line)>;

/// Builds a base from the machine's own Debian package sources and stores it; the same packages give the same digest.
/// Some minutes. When that base is stored already, it is returned. `Unavailable` with what to do when a tool, a source
/// or disk is missing; `Cancelled`; `Timeout`. Nothing half-made is ever listed.
Result<BaseInfo> buildBase(const std::filesystem::path& dataDirectory, const Progress& progress, std::stop_token cancel,
                           const BuildOptions& options = {});

/// All stored bases, newest first; damaged ones (no readable info) are left out.
Result<std::vector<BaseInfo>> listBases(const std::filesystem::path& dataDirectory);

/// One base by its digest, after a quick check: the stored listing has this digest. `NotFound`; `Unavailable` when the
/// listing does not match.
Result<BaseRoot> openBase(const std::filesystem::path& dataDirectory, std::string_view digest);

/// What boxes start from: the newest stored base, or the host's directories ("host, unpinned") when there is none.
/// An error is a base that is there and does not pass its check: it is never replaced by the host in silence.
Result<BaseRoot> selectBase(const std::filesystem::path& dataDirectory);

/// Reads the whole tree and compares it with its listing; seconds. `Unavailable` names the first path that differs.
Result<void> verifyBase(const std::filesystem::path& dataDirectory, std::string_view digest, std::stop_token cancel);

/// The digest field of a box without a pinned base.
inline constexpr std::string_view kHostUnpinned = "host, unpinned";

} // namespace assay::sandbox::base
