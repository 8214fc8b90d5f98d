// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::contract {

/// The last proof that a driver works: a real command ran in a real box and its output was checked (E7).
struct Handshake
{
    bool passed = false;
    Timestamp at;
    std::uint64_t durationMs = 0;
    std::string message; ///< a sentence; why it failed, when it did
};

/// The health of one part. There is no fourth state (E7).
struct PartHealth
{
    std::string name;  ///< of a driver: "bubblewrap"; of the others: the part itself
    std::string state; ///< "ready", "unavailable" or "disabled"
    std::string reason;
    std::string remedy;
    std::string limits; ///< drivers only: "hard" or "soft"
    std::optional<Handshake> lastHandshake;
};

/// Answer of `GET /v1/health`.
struct Health
{
    std::vector<PartHealth> drivers;
    PartHealth gateway;
    PartHealth store;
    PartHealth base;
};

} // namespace assay::contract
