// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace assay::contract {

/// Answer of `GET /v1/server`: never a path and never a secret.
struct ServerInfo
{
    std::string version;
    std::vector<std::string> features;           ///< for example "runs", "skills_backend:database"
    std::map<std::string, std::uint64_t> limits; ///< names end in their unit: "package_bytes", "wait_ms"
    std::vector<std::string> listeners;          ///< "http://127.0.0.1:8473", "unix"
};

} // namespace assay::contract
