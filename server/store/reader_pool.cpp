// SPDX-License-Identifier: Apache-2.0
#include "server/store/reader_pool.h"

#include "server/store/open_connection.h"

#include <exception>

namespace assay::store {

Result<void> ReaderPool::read(const std::function<void(Connection&)>& work)
{
    auto connection = borrow();
    if (!connection)
        return forward(connection);
    Result<void> done = (*connection)->run("BEGIN");
    if (done) {
        try {
            work(**connection);
        } catch (const std::exception& error) {
            done = fail(ErrorCode::Internal, "the server failed to read its database", error.what());
        }
        if (auto ended = (*connection)->run("ROLLBACK"); done && !ended)
            done = std::move(ended);
    }
    giveBack(std::move(*connection));
    return done;
}

Result<std::unique_ptr<Connection>> ReaderPool::borrow()
{
    std::unique_lock lock(m_mutex);
    const bool isFree =
        m_returned.wait_for(lock, kDeadline, [&] { return !m_idle.empty() || m_open < m_maxConnections; });
    if (!isFree)
        return fail(ErrorCode::Unavailable, "the database is too busy; try again later");
    if (!m_idle.empty()) {
        auto connection = std::move(m_idle.back());
        m_idle.pop_back();
        return connection;
    }
    ++m_open;
    lock.unlock();
    auto opened = openConnection(m_file, ConnectionUse::Read);
    if (!opened) {
        lock.lock();
        --m_open;
        m_returned.notify_one();
    }
    return opened;
}

void ReaderPool::giveBack(std::unique_ptr<Connection> connection)
{
    {
        const std::scoped_lock lock(m_mutex);
        // One that is stuck in a transaction would read old rows for ever.
        if (connection->inTransaction())
            --m_open;
        else
            m_idle.push_back(std::move(connection));
    }
    m_returned.notify_one();
}

} // namespace assay::store
