// SPDX-License-Identifier: Apache-2.0
#include "server/store/sqlite_error.h"

#include <cerrno>
#include <sqlite3.h>

namespace assay::store {

namespace {

bool isDiskFull(sqlite3* database, int status)
{
    if ((status & 0xff) == SQLITE_FULL)
        return true;
    if ((status & 0xff) != SQLITE_IOERR || database == nullptr)
        return false;
    const int cause = sqlite3_system_errno(database);
    return cause == ENOSPC || cause == EDQUOT;
}

Error describe(sqlite3* database, int status)
{
    if (isDiskFull(database, status))
        return {ErrorCode::Unavailable,
                "the server's disk is full; nothing was changed. Free some space and try again"};
    switch (status & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM:
        return {ErrorCode::Unavailable, "the server's database is busy; try again"};
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return {ErrorCode::Unavailable, "the server cannot write its database; its operator must check the data "
                                        "directory's owner and permissions"};
    case SQLITE_IOERR:
        return {ErrorCode::Unavailable, "the server's disk reports errors; nothing was changed"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return {ErrorCode::Internal, "the server's database is damaged; its operator must restore a backup"};
    default:
        return {ErrorCode::Internal, "the server's database failed"};
    }
}

} // namespace

std::unexpected<Error> failSqlite(sqlite3* database, int status, std::string_view what)
{
    Error error = describe(database, status);
    error.detail = std::string(what) + ": " + sqlite3_errstr(status) + " (" + std::to_string(status) + ")";
    if (database != nullptr && sqlite3_extended_errcode(database) == status)
        error.detail += std::string(": ") + sqlite3_errmsg(database);
    return std::unexpected(std::move(error));
}

} // namespace assay::store
