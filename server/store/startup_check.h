// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/connection.h"

#include <chrono>

namespace assay::store {

/// Looks for damage in the order of the schema (small tables first) for at most `budget`: what it has no time for is
/// found when it is read, for bundles are hashed on every fetch. `Unavailable` with the remedy when something is
/// damaged.
Result<void> checkIntegrity(Connection& connection, std::chrono::milliseconds budget);

} // namespace assay::store
