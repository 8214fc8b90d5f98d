// SPDX-License-Identifier: Apache-2.0
#include "server/store/open_connection.h"

#include "server/core/file_io.h"
#include "server/store/sqlite_error.h"

#include <fcntl.h>
#include <sqlite3.h>

namespace assay::store {

namespace {

constexpr int kBusyTimeoutMs = 5000;

// Caches are in KiB. The writer's holds a batch's changed pages; what does not fit spills into the log early.
constexpr const char* kWriterSettings = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
                                        "PRAGMA cache_size=-6144; PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF;"
                                        "PRAGMA wal_autocheckpoint=2000; PRAGMA journal_size_limit=16777216;";
// Readers map the file: see docs/decisions/0031-mapped-reads.md.
constexpr const char* kReaderSettings = "PRAGMA query_only=ON; PRAGMA cache_size=-2048; PRAGMA temp_store=MEMORY;"
                                        "PRAGMA trusted_schema=OFF; PRAGMA mmap_size=1073741824;";

// SQLite would make the file readable for all; its log and index take over this mode.
Result<void> makePrivate(const std::filesystem::path& file)
{
    auto fd = openFile(file, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    return fd ? Result<void>{} : Result<void>(forward(fd));
}

} // namespace

Result<std::unique_ptr<Connection>> openConnection(const std::filesystem::path& file, ConnectionUse use)
{
    if (use == ConnectionUse::Write) {
        if (auto made = makePrivate(file); !made)
            return forward(made);
    }
    sqlite3* handle = nullptr;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE;
    const int status = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
    auto connection = std::make_unique<Connection>(handle);
    if (status != SQLITE_OK)
        return failSqlite(handle, status, "open " + file.string());
    sqlite3_busy_timeout(handle, kBusyTimeoutMs);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    if (auto set = connection->execute(use == ConnectionUse::Read ? kReaderSettings : kWriterSettings); !set)
        return forward(set);
    return connection;
}

} // namespace assay::store
