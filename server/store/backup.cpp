// SPDX-License-Identifier: Apache-2.0
#include "server/store/backup.h"

#include "server/core/digest.h"
#include "server/core/file_io.h"
#include "server/core/random.h"
#include "server/store/open_connection.h"
#include "server/store/sqlite_error.h"

#include <cerrno>
#include <fcntl.h>
#include <sqlite3.h>

namespace assay::store {

namespace fs = std::filesystem;

namespace {

constexpr int kPagesAtOnce = 1024;

// The outer transaction holds one snapshot, so writers in between do not make the copy begin again.
Result<void> copyPages(Connection& source, Connection& target)
{
    if (auto begun = source.execute("BEGIN; SELECT count(*) FROM sqlite_schema"); !begun)
        return begun;
    sqlite3_backup* copy = sqlite3_backup_init(target.handle(), "main", source.handle(), "main");
    if (copy == nullptr)
        return failSqlite(target.handle(), sqlite3_errcode(target.handle()), "backup");
    int status = SQLITE_OK;
    while (status == SQLITE_OK)
        status = sqlite3_backup_step(copy, kPagesAtOnce);
    sqlite3_backup_finish(copy);
    if (status != SQLITE_DONE)
        return failSqlite(nullptr, status, "backup");
    return source.execute("ROLLBACK");
}

Result<void> copyInto(const fs::path& source, const fs::path& file)
{
    auto from = openConnection(source, ConnectionUse::Read);
    if (!from)
        return forward(from);
    sqlite3* handle = nullptr;
    const int status = sqlite3_open_v2(file.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, nullptr);
    Connection to(handle);
    if (status != SQLITE_OK)
        return failSqlite(handle, status, "open " + file.string());
    // The rename publishes the copy; before it a crash leaves only the temporary file.
    if (auto set = to.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF"); !set)
        return set;
    return copyPages(**from, to);
}

Result<void> publish(const fs::path& temporary, const fs::path& target)
{
    auto fd = openFile(temporary, O_RDONLY | O_NOFOLLOW);
    if (!fd)
        return forward(fd);
    if (::fsync(fd->get()) != 0)
        return failErrno("fsync " + temporary.string(), errno);
    // link(2), unlike rename(2), refuses a target that appeared meanwhile.
    if (::link(temporary.c_str(), target.c_str()) != 0) {
        if (errno == EEXIST)
            return fail(ErrorCode::Conflict, "the backup's file exists; choose another name", target.string());
        return failErrno("link " + target.string(), errno);
    }
    ::unlink(temporary.c_str());
    return syncDirectory(target.parent_path().empty() ? fs::path(".") : target.parent_path());
}

} // namespace

Result<void> backupDatabase(const fs::path& source, const fs::path& target)
{
    std::error_code ignored;
    if (!fs::exists(source, ignored))
        return fail(ErrorCode::NotFound, "there is no database to back up", source.string());
    if (fs::exists(fs::symlink_status(target, ignored)))
        return fail(ErrorCode::Conflict, "the backup's file exists; choose another name", target.string());
    fs::path temporary = target;
    temporary += ".partial-" + toHex(randomBytes(6));
    if (auto made = openFile(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600); !made)
        return forward(made);
    auto done = copyInto(source, temporary);
    if (done)
        done = publish(temporary, target);
    if (!done)
        ::unlink(temporary.c_str());
    return done;
}

} // namespace assay::store
