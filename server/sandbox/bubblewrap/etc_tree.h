// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <filesystem>

namespace assay::sandbox::bubblewrap {

/// Makes the /etc of boxes without a pinned base below `folder` and returns its path: our own passwd, group, hosts and
/// nsswitch.conf, and copies of the few files of the host's /etc that its programs need to start (ld.so.cache, the
/// links of alternatives, TLS roots, tables of names). Made anew only when those changed. One caller at a time.
Result<std::filesystem::path> makeEtcTree(const std::filesystem::path& folder);

/// The text files that are ours, also used by a pinned base: name and content.
struct EtcFile
{
    const char* name;
    const char* content;
};
std::span<const EtcFile> ownEtcFiles();

} // namespace assay::sandbox::bubblewrap
