// SPDX-License-Identifier: Apache-2.0
#include "server/store/connection.h"

#include "server/store/sqlite_error.h"

#include <sqlite3.h>
#include <utility>

namespace assay::store {

Statement::Statement(Statement&& other) noexcept
    : m_database(other.m_database),
      m_handle(std::exchange(other.m_handle, nullptr)),
      m_home(other.m_home),
      m_next(other.m_next),
      m_bindStatus(other.m_bindStatus)
{}

Statement::~Statement()
{
    if (m_handle == nullptr)
        return;
    restart();
    // The home is taken when the same text was prepared twice at a time.
    if (*m_home == nullptr)
        *m_home = m_handle;
    else
        sqlite3_finalize(m_handle);
}

void Statement::restart()
{
    sqlite3_reset(m_handle);
    sqlite3_clear_bindings(m_handle);
    m_next = 1;
    m_bindStatus = SQLITE_OK;
}

Statement& Statement::bind(std::string_view text)
{
    // A null pointer would bind NULL: an empty view is the empty string.
    const char* data = text.data() == nullptr ? "" : text.data();
    m_bindStatus |= sqlite3_bind_text64(m_handle, m_next++, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bind(std::int64_t value)
{
    m_bindStatus |= sqlite3_bind_int64(m_handle, m_next++, value);
    return *this;
}

Statement& Statement::bind(Timestamp time) { return bind(static_cast<std::int64_t>(time.time_since_epoch().count())); }

Statement& Statement::bindBlob(std::string_view bytes)
{
    const char* data = bytes.data() == nullptr ? "" : bytes.data();
    m_bindStatus |= sqlite3_bind_blob64(m_handle, m_next++, data, bytes.size(), SQLITE_STATIC);
    return *this;
}

Statement& Statement::bindNull()
{
    m_bindStatus |= sqlite3_bind_null(m_handle, m_next++);
    return *this;
}

Result<bool> Statement::step()
{
    if (m_bindStatus != SQLITE_OK)
        return failSqlite(m_database, m_bindStatus, "bind");
    const int status = sqlite3_step(m_handle);
    if (status == SQLITE_ROW)
        return true;
    if (status == SQLITE_DONE)
        return false;
    return failSqlite(m_database, sqlite3_extended_errcode(m_database), sqlite3_sql(m_handle));
}

Result<void> Statement::run()
{
    for (;;) {
        const auto row = step();
        if (!row)
            return std::unexpected(row.error());
        if (!*row)
            return {};
    }
}

std::string_view Statement::text(int column) const
{
    const unsigned char* data = sqlite3_column_text(m_handle, column);
    if (data == nullptr)
        return {};
    return {reinterpret_cast<const char*>(data), static_cast<std::size_t>(sqlite3_column_bytes(m_handle, column))};
}

std::string_view Statement::blob(int column) const
{
    const void* data = sqlite3_column_blob(m_handle, column);
    if (data == nullptr)
        return {};
    return {static_cast<const char*>(data), static_cast<std::size_t>(sqlite3_column_bytes(m_handle, column))};
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(m_handle, column); }

std::optional<std::int64_t> Statement::optionalInteger(int column) const
{
    return isNull(column) ? std::nullopt : std::optional(integer(column));
}

Timestamp Statement::timestamp(int column) const { return Timestamp(std::chrono::milliseconds(integer(column))); }

std::optional<Timestamp> Statement::optionalTimestamp(int column) const
{
    return isNull(column) ? std::nullopt : std::optional(timestamp(column));
}

bool Statement::isNull(int column) const { return sqlite3_column_type(m_handle, column) == SQLITE_NULL; }

Connection::~Connection()
{
    for (const auto& [sql, handle] : m_cache)
        sqlite3_finalize(handle);
    sqlite3_close(m_handle);
}

Result<Statement> Connection::prepare(std::string_view sql)
{
    sqlite3_stmt*& home = m_cache[sql];
    if (home != nullptr)
        return Statement(m_handle, std::exchange(home, nullptr), &home);
    sqlite3_stmt* handle = nullptr;
    const int status = sqlite3_prepare_v3(m_handle, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                          &handle, nullptr);
    if (status != SQLITE_OK)
        return failSqlite(m_handle, status, sql);
    return Statement(m_handle, handle, &home);
}

Result<void> Connection::execute(const char* sql)
{
    const int status = sqlite3_exec(m_handle, sql, nullptr, nullptr, nullptr);
    if (status != SQLITE_OK)
        return failSqlite(m_handle, status, std::string_view(sql).substr(0, 80));
    return {};
}

Result<void> Connection::run(std::string_view sql)
{
    auto query = prepare(sql);
    return query ? query->run() : Result<void>(forward(query));
}

std::int64_t Connection::changes() const { return sqlite3_changes64(m_handle); }

bool Connection::inTransaction() const { return sqlite3_get_autocommit(m_handle) == 0; }

} // namespace assay::store
