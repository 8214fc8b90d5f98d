// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
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
/// connection's thread. A bind that fails shows at the next `step`.
class Statement
{
public:
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;
    ~Statement();

    Statement& bind(std::string_view text); ///< binds the next parameter; the text must outlive the step
    Statement& bind(std::int64_t value);
    Statement& bind(Timestamp time); ///< as milliseconds since 1970
    Statement& bindBlob(std::string_view bytes);
    Statement& bindNull();
    template <typename T> Statement& bind(const std::optional<T>& value) { return value ? bind(*value) : bindNull(); }

    /// True when a row is there; false at the end.
    Result<bool> step();
    /// For statements without rows.
    Result<void> run();
    /// Makes the statement ready for another set of parameters.
    void restart();

    std::string_view text(int column) const; ///< valid until the next step
    std::string_view blob(int column) const;
    std::int64_t integer(int column) const;
    std::optional<std::int64_t> optionalInteger(int column) const;
    Timestamp timestamp(int column) const;
    std::optional<Timestamp> optionalTimestamp(int column) const;
    bool isNull(int column) const;

private:
    friend class Connection;
    Statement(sqlite3* database, sqlite3_stmt* handle, sqlite3_stmt** home)
        : m_database(database), m_handle(handle), m_home(home)
    {}
    sqlite3* m_database;
    sqlite3_stmt* m_handle;
    sqlite3_stmt** m_home; ///< where the connection keeps it while nobody uses it
    int m_next = 1;
    int m_bindStatus = 0;
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
    /// Runs one or more statements that have no parameters and no rows.
    Result<void> execute(const char* sql);
    /// Runs one cached statement that has no parameters.
    Result<void> run(std::string_view sql);
    /// Rows changed by the last statement.
    std::int64_t changes() const;
    /// False once SQLite has rolled a failed transaction back by itself, or none was begun.
    bool inTransaction() const;
    sqlite3* handle() const { return m_handle; }

private:
    sqlite3* m_handle;
    std::unordered_map<std::string_view, sqlite3_stmt*> m_cache;
};

} // namespace assay::store
