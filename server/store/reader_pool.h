// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/connection.h"

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace assay::store {

/// Connections for concurrent reads, opened when they are first needed. Thread-safe.
class ReaderPool
{
public:
    ReaderPool(std::filesystem::path file, unsigned maxConnections)
        : m_file(std::move(file)), m_maxConnections(maxConnections)
    {}

    /// Runs `work` on the caller's thread in one snapshot. `Unavailable` when no connection comes free within
    /// `kDeadline`.
    Result<void> read(const std::function<void(Connection&)>& work);

    static constexpr std::chrono::seconds kDeadline{10};

private:
    Result<std::unique_ptr<Connection>> borrow();
    void giveBack(std::unique_ptr<Connection> connection);

    const std::filesystem::path m_file;
    const unsigned m_maxConnections;
    std::mutex m_mutex;
    std::condition_variable m_returned;
    std::vector<std::unique_ptr<Connection>> m_idle;
    unsigned m_open = 0;
};

} // namespace assay::store
