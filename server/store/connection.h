// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

struct sqlite3;
struct sqlite3_stmt;

namespace assay::store {

/// One prepared statement in use; goes back to its connection's cache, reset, when it is destroyed. Confined to the
/// connection's thread.
class Statement
{
public:
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;
    ~Statement();

    Statement& bind(std::string_view text); ///< binds the next parameter; the text must outlive the step
    Statement& bind(std::int64_t value);
    Statement& bindBlob(std::string_view bytes);
    Statement& bindNull();
    template <typename T> Statement& bind(const std::optional<T>& value) { return value ? bind(*value) : bindNull(); }

    /// True when a row is there; false at the end.
    Result<bool> step();
    /// For statements without rows.
    Result<void> run();

    std::string_view text(int column) const; ///< valid until the next step
    std::string_view blob(int column) const;
    std::int64_t integer(int column) const;
    bool isNull(int column) const;

private:
    friend class Connection;
    Statement(sqlite3* database, sqlite3_stmt* handle) : m_database(database), m_handle(handle) {}
    sqlite3* m_database;
    sqlite3_stmt* m_handle;
    int m_next = 1;
};

/// One SQLite connection with a cache of prepared statements. One thread at a time.
class Connection
{
public:
    explicit Connection(sqlite3* handle) : m_handle(handle) {}
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection();

    /// Prepares or takes from the cache; `sql` is a literal of this folder, never built from input.
    Result<Statement> prepare(std::string_view sql);
    Result<void> execute(const char* sql);
    /// Rows changed by the last statement.
    std::int64_t changes() const;
    sqlite3* handle() const { return m_handle; }

private:
    sqlite3* m_handle;
    std::unordered_map<std::string, sqlite3_stmt*> m_cache;
};

} // namespace assay::store
