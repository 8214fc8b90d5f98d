// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/connection.h"

#include <vector>

namespace assay::store {

/// A digest that the operator stopped in every scope.
struct StopRow
{
    Digest digest;
    std::string reason;
    std::string stoppedBy;
    Timestamp stoppedAt;
};

/// The SQL of the table `stops`. It belongs to no scope: a digest tells nothing of who has it. Confined to its
/// connection.
class StopTable
{
public:
    explicit StopTable(Connection& connection) : m_connection(connection) {}

    Result<std::optional<StopRow>> find(const Digest& digest);
    Result<void> insert(const StopRow& row);
    Result<bool> remove(const Digest& digest);
    /// In the byte order of digests, those after `after` (empty: from the first), at most `limit`.
    Result<std::vector<StopRow>> list(const std::optional<Digest>& after, std::uint32_t limit);

private:
    Connection& m_connection;
};

} // namespace assay::store
