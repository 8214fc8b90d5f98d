// SPDX-License-Identifier: Apache-2.0
#include "server/store/database.h"

#include "server/store/backup.h"
#include "server/store/lock_file.h"
#include "server/store/open_connection.h"
#include "server/store/reader_pool.h"
#include "server/store/schema.h"
#include "server/store/startup_check.h"
#include "server/store/writer.h"

#include <system_error>

namespace assay::store {

namespace fs = std::filesystem;

namespace {

// Of the 60 ms that a server may take to be ready.
constexpr std::chrono::milliseconds kCheckBudget{10};

Result<void> checkOptions(const DatabaseOptions& options)
{
    if (options.file.empty() || options.readers == 0 || options.maxBatch == 0 || options.maxWaiting == 0)
        return fail(ErrorCode::InvalidArgument, "the database's file, readers and limits must be set");
    return {};
}

Result<void> makeDirectory(const fs::path& directory)
{
    std::error_code error;
    if (directory.empty() || fs::is_directory(directory, error))
        return {};
    fs::create_directories(directory, error);
    if (!error)
        fs::permissions(directory, fs::perms::owner_all, error);
    if (error)
        return failErrno("make " + directory.string(), error.value());
    return {};
}

/// The lock that keeps a second server out; none when a server holds it and `options` allow to work beside it.
Result<std::optional<LockFile>> takeLock(const DatabaseOptions& options)
{
    fs::path path = options.file;
    path += ".lock";
    auto lock = LockFile::take(path);
    if (lock)
        return std::optional(std::move(*lock));
    if (options.use == DatabaseUse::BesideServer && lock.error().code == ErrorCode::Unavailable)
        return std::optional<LockFile>();
    return forward(lock);
}

/// Checks and migrates when this process is alone; beside a server it only makes sure that both know the same schema.
Result<void> prepare(Connection& connection, bool isAlone)
{
    if (!isAlone)
        return requireNewestSchema(connection);
    if (auto checked = checkIntegrity(connection, kCheckBudget); !checked)
        return forward(checked);
    return migrate(connection);
}

} // namespace

struct Database::State
{
    fs::path file;
    std::optional<LockFile> lock; ///< empty beside a running server, which holds it
    ReaderPool readers;
    Writer writer;
};

Result<std::unique_ptr<Database>> Database::open(const DatabaseOptions& options)
{
    auto usable = checkOptions(options);
    if (usable)
        usable = makeDirectory(options.file.parent_path());
    if (!usable)
        return forward(usable);
    auto lock = takeLock(options);
    if (!lock)
        return forward(lock);
    auto connection = openConnection(options.file, ConnectionUse::Write);
    if (!connection)
        return forward(connection);
    if (auto prepared = prepare(**connection, lock->has_value()); !prepared)
        return forward(prepared);
    std::unique_ptr<State> state(new State{options.file,
                                           std::move(*lock),
                                           {options.file, options.readers},
                                           {std::move(*connection), {options.maxBatch, options.maxWaiting}}});
    return std::unique_ptr<Database>(new Database(std::move(state)));
}

Database::Database(std::unique_ptr<State> state) : m_state(std::move(state)) {}

Database::~Database() = default;

Result<void> Database::runWrite(const std::function<Result<void>(Connection&)>& job)
{
    return m_state->writer.submit(job);
}

Result<void> Database::runRead(const std::function<void(Connection&)>& job) { return m_state->readers.read(job); }

bool Database::isAlone() const { return m_state->lock.has_value(); }

Result<void> Database::backup(const fs::path& target) { return backupDatabase(m_state->file, target); }

} // namespace assay::store
