// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::sandbox::bubblewrap {

/// Looks from outside at a live box's init (its process id in the server's /proc) and returns what is not as it must
/// be: namespaces of its own, the box's user, no capability, no_new_privs, a filter, no network interface but loopback,
/// /workspace and /tmp the only writable file systems. Empty when all is well.
std::vector<std::string> inspectBox(int initPid);

/// The writable mounts in a mountinfo text that a box must not have.
std::vector<std::string> unexpectedWritableMounts(std::string_view mountinfo);

} // namespace assay::sandbox::bubblewrap
