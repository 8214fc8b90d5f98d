// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/store/connection.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

namespace assay::store {

/// Who opens the database. A server is alone; local administration (`assayctl token create`) may work beside it: SQLite
/// keeps their transactions apart, and a schema that the running server does not have is refused.
enum class DatabaseUse : std::uint8_t { Server, BesideServer };

struct DatabaseOptions
{
    std::filesystem::path file;
    unsigned readers = 4;       ///< connections for concurrent reads
    unsigned maxBatch = 64;     ///< transactions in one commit
    unsigned maxWaiting = 4096; ///< more waiting writers than this are `Unavailable`
    DatabaseUse use = DatabaseUse::Server;
};

/// The one SQLite database: a writer thread that commits a batch of waiting jobs at once, each inside its own savepoint
/// and answered after the commit, and a pool of readers. WAL, synchronous=FULL, foreign keys on.
///
/// Thread-safe. `write` and `read` block the caller; a job runs on the writer's or the caller's thread and must not
/// call back into the database. A job that fails (returns an error) leaves nothing behind; its neighbours in the batch
/// stay.
class Database
{
public:
    /// Opens or creates, takes the lock file, checks application_id and integrity, and runs the migrations that are
    /// missing. `Unavailable` names the cause and the remedy: locked by another server, newer schema, corrupt.
    static Result<std::unique_ptr<Database>> open(const DatabaseOptions& options);
    ~Database();

    template <typename Job> auto write(Job&& job) -> std::invoke_result_t<Job&, Connection&>
    {
        std::optional<std::invoke_result_t<Job&, Connection&>> out;
        auto done = runWrite([&](Connection& connection) -> Result<void> {
            out.emplace(job(connection));
            return *out ? Result<void>{} : Result<void>(std::unexpected(out->error()));
        });
        if (!done)
            return forward(done);
        return std::move(*out);
    }

    template <typename Job> auto read(Job&& job) -> std::invoke_result_t<Job&, Connection&>
    {
        std::optional<std::invoke_result_t<Job&, Connection&>> out;
        auto done = runRead([&](Connection& connection) { out.emplace(job(connection)); });
        if (!done)
            return forward(done);
        return std::move(*out);
    }

    /// True when this process holds the lock: no server works on the database, nor can start meanwhile.
    bool isAlone() const;

    /// Copies a consistent state into a new file while serving (SQLite's online backup). `Conflict` when it exists.
    Result<void> backup(const std::filesystem::path& target);

private:
    struct State;
    explicit Database(std::unique_ptr<State> state);
    Result<void> runWrite(const std::function<Result<void>(Connection&)>& job);
    Result<void> runRead(const std::function<void(Connection&)>& job);

    std::unique_ptr<State> m_state;
};

} // namespace assay::store
