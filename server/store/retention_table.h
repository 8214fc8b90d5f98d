// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/connection.h"

#include <cstdint>

namespace assay::store {

/// How many days a scope keeps what has ended, been made or been withdrawn; empty members follow the server's settings,
/// 0 is for ever.
struct RetentionRow
{
    std::optional<std::int64_t> runsDays;
    std::optional<std::int64_t> artifactsDays;
    std::optional<std::int64_t> revisionsDays;
    auto operator<=>(const RetentionRow&) const = default;
};

/// The SQL of the table `retention`, one exact scope at a time. Confined to its connection.
class RetentionTable
{
public:
    explicit RetentionTable(Connection& connection) : m_connection(connection) {}

    /// A scope without a row has none of its own.
    Result<RetentionRow> find(std::string_view fingerprint);
    Result<void> put(std::string_view fingerprint, const RetentionRow& row);

private:
    Connection& m_connection;
};

} // namespace assay::store
