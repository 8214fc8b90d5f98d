// SPDX-License-Identifier: Apache-2.0
#include "server/store/schema.h"

#include "server/store/migrations.h"

#include <string>

namespace assay::store {

namespace {

Result<std::int64_t> readPragma(Connection& connection, std::string_view sql)
{
    auto query = connection.prepare(sql);
    if (!query)
        return forward(query);
    const auto row = query->step();
    if (!row)
        return std::unexpected(row.error());
    return *row ? query->integer(0) : 0;
}

Result<bool> isEmpty(Connection& connection)
{
    const auto count = readPragma(connection, "SELECT count(*) FROM sqlite_schema");
    if (!count)
        return std::unexpected(count.error());
    return *count == 0;
}

Result<void> checkOwner(Connection& connection)
{
    const auto id = readPragma(connection, "PRAGMA application_id");
    if (!id)
        return std::unexpected(id.error());
    if (*id == kApplicationId)
        return {};
    const auto empty = isEmpty(connection);
    if (!empty)
        return std::unexpected(empty.error());
    if (*id != 0 || !*empty)
        return fail(ErrorCode::Unavailable, "the database file belongs to another program; choose another data "
                                            "directory");
    return {};
}

Result<void> apply(Connection& connection, const char* sql, std::int64_t version)
{
    const std::string mark = "PRAGMA user_version=" + std::to_string(version) +
                             "; PRAGMA application_id=" + std::to_string(kApplicationId) + "; COMMIT;";
    auto done = connection.execute("BEGIN IMMEDIATE");
    if (done)
        done = connection.execute(sql);
    if (done)
        done = connection.execute(mark.c_str());
    if (!done && connection.inTransaction())
        (void)connection.execute("ROLLBACK");
    return done;
}

} // namespace

std::int64_t newestSchema() { return static_cast<std::int64_t>(migrations().size()); }

Result<void> migrate(Connection& connection)
{
    if (auto ours = checkOwner(connection); !ours)
        return ours;
    const auto version = readPragma(connection, "PRAGMA user_version");
    if (!version)
        return std::unexpected(version.error());
    if (*version > newestSchema() || *version < 0)
        return fail(ErrorCode::Unavailable, "the data directory was written by a newer version of the server (schema " +
                                                std::to_string(*version) + ", this one knows " +
                                                std::to_string(newestSchema()) +
                                                "); start that version, or restore a backup made before the upgrade");
    for (std::int64_t next = *version; next < newestSchema(); ++next) {
        if (auto done = apply(connection, migrations()[static_cast<std::size_t>(next)], next + 1); !done)
            return done;
    }
    return {};
}

Result<void> requireNewestSchema(Connection& connection)
{
    if (auto ours = checkOwner(connection); !ours)
        return ours;
    const auto version = readPragma(connection, "PRAGMA user_version");
    if (!version)
        return std::unexpected(version.error());
    if (*version != newestSchema())
        return fail(ErrorCode::Unavailable,
                    "the server that runs on this data directory is of another version (schema " +
                        std::to_string(*version) + ", this program knows " + std::to_string(newestSchema()) +
                        "); use the program it came with");
    return {};
}

} // namespace assay::store
