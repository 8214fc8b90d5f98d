// SPDX-License-Identifier: Apache-2.0
#include "server/store/stop_table.h"

namespace assay::store {

namespace {

StopRow readRow(const Statement& row)
{
    return {Digest::fromBytes(row.blob(0)).value_or(Digest()), std::string(row.text(1)), std::string(row.text(2)),
            row.timestamp(3)};
}

} // namespace

Result<std::optional<StopRow>> StopTable::find(const Digest& digest)
{
    auto query = m_connection.prepare("SELECT digest, reason, stopped_by, stopped_at FROM stops WHERE digest = ?");
    if (!query)
        return forward(query);
    const auto found = query->bindBlob(digest.bytes()).step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(readRow(*query)) : std::nullopt;
}

Result<void> StopTable::insert(const StopRow& row)
{
    auto query = m_connection.prepare("INSERT INTO stops(digest, reason, stopped_by, stopped_at) VALUES(?, ?, ?, ?)");
    if (!query)
        return forward(query);
    return query->bindBlob(row.digest.bytes()).bind(row.reason).bind(row.stoppedBy).bind(row.stoppedAt).run();
}

Result<bool> StopTable::remove(const Digest& digest)
{
    auto query = m_connection.prepare("DELETE FROM stops WHERE digest = ?");
    if (!query)
        return forward(query);
    if (auto done = query->bindBlob(digest.bytes()).run(); !done)
        return forward(done);
    return m_connection.changes() > 0;
}

Result<std::vector<StopRow>> StopTable::list(const std::optional<Digest>& after, std::uint32_t limit)
{
    auto query = m_connection.prepare("SELECT digest, reason, stopped_by, stopped_at FROM stops WHERE digest > ?"
                                      " ORDER BY digest LIMIT ?");
    if (!query)
        return forward(query);
    query->bindBlob(after ? after->bytes() : std::string_view()).bind(std::int64_t{limit});
    std::vector<StopRow> out;
    for (;;) {
        const auto found = query->step();
        if (!found)
            return std::unexpected(found.error());
        if (!*found)
            return out;
        out.push_back(readRow(*query));
    }
}

} // namespace assay::store
