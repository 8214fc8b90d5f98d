// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::contract {

/// What a collection removed, or would remove, of one kind.
struct CollectedKind
{
    std::string kind; ///< one of a closed set (docs/retention.md)
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    bool complete = false; ///< false: its time was over, or it failed; the next collection goes on
    std::string problem;   ///< a sentence, when it failed
};

/// Answer of `POST /v1/collections`.
struct CollectionReport
{
    bool dryRun = false;
    bool complete = false;
    Timestamp startedAt;
    Timestamp endedAt;
    std::vector<CollectedKind> kinds;
};

} // namespace assay::contract
