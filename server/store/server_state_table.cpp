// SPDX-License-Identifier: Apache-2.0
#include "server/store/server_state_table.h"

namespace assay::store {

Result<std::optional<std::string>> ServerStateTable::find(std::string_view name)
{
    auto query = m_connection.prepare("SELECT value FROM server_state WHERE name = ?");
    if (!query)
        return forward(query);
    const auto found = query->bind(name).step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(std::string(query->blob(0))) : std::nullopt;
}

Result<void> ServerStateTable::put(std::string_view name, std::string_view value)
{
    auto query = m_connection.prepare("INSERT INTO server_state(name, value) VALUES(?, ?)"
                                      " ON CONFLICT(name) DO UPDATE SET value = excluded.value");
    if (!query)
        return forward(query);
    return query->bind(name).bindBlob(value).run();
}

Result<std::string> ServerStateTable::findOrPut(std::string_view name, std::string_view value)
{
    auto found = find(name);
    if (!found)
        return forward(found);
    if (*found)
        return std::move(**found);
    if (auto done = put(name, value); !done)
        return forward(done);
    return std::string(value);
}

} // namespace assay::store
