// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/capability.h"

#include <set>

namespace assay::registry::capabilities {

/// What `after` can newly do, no longer do, and still does. Kind and value tell two items apart, not the place: a host
/// that moved to another file is unchanged. An executable whose path is in `changedFiles` is "changed".
contract::CapabilityDiff diffCapabilities(const contract::CapabilityReport& before,
                                          const contract::CapabilityReport& after,
                                          const std::set<std::string>& changedFiles);

} // namespace assay::registry::capabilities
