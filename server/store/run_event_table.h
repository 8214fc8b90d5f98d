// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/connection.h"

namespace assay::store {

/// The events of an ended run as one value of the runs folder's own form. Confined to its connection.
class RunEventTable
{
public:
    explicit RunEventTable(Connection& connection) : m_connection(connection) {}

    /// Inserts or replaces. `TooLarge` above `kMaxBytes`.
    Result<void> put(std::string_view fingerprint, std::string_view run, std::string_view events);
    Result<std::optional<std::string>> find(std::string_view fingerprint, std::string_view run);

    static constexpr std::size_t kMaxBytes = 64U << 20;

private:
    Connection& m_connection;
};

} // namespace assay::store
