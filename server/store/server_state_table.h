// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/connection.h"

namespace assay::store {

/// Small values of the server itself, by name: its instance id, sealing keys. No scope's content. Confined to its
/// connection.
class ServerStateTable
{
public:
    explicit ServerStateTable(Connection& connection) : m_connection(connection) {}

    Result<std::optional<std::string>> find(std::string_view name);
    Result<void> put(std::string_view name, std::string_view value);
    /// Writes `value` unless the name has one; the value that is there afterwards.
    Result<std::string> findOrPut(std::string_view name, std::string_view value);

private:
    Connection& m_connection;
};

} // namespace assay::store
