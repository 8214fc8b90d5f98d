// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/anchor.h"
#include "server/audit/refusals.h"

#include <condition_variable>
#include <functional>
#include <thread>

namespace assay::audit {

/// Signs anchors: each chain that grew gets one when `rows` rows were added in all, or `interval` has passed, and when
/// the server stops. Ends the episodes of repeated refusals on the way. Owns a thread, which writes through the
/// database's writer like everybody. Thread-safe.
class Anchorer
{
public:
    struct Options
    {
        std::int64_t rows = 1000;
        std::chrono::milliseconds interval{60'000};
        std::chrono::milliseconds look{1000};     ///< how often it is looked whether one is due
        std::function<void(const Error&)> report; ///< may be empty
    };
    Anchorer(store::Database& database, const Clock& clock, SigningKey key, Refusals* refusals, Options options);
    Anchorer(store::Database& database, const Clock& clock, SigningKey key)
        : Anchorer(database, clock, std::move(key), nullptr, {})
    {}
    /// Signs what is left and ends the thread.
    ~Anchorer();

    /// Signs the newest row of every chain that grew since its last anchor; the number of anchors.
    Result<std::uint64_t> anchorNow();
    const SigningKey& key() const { return m_key; }

private:
    void loop();
    Result<std::int64_t> unanchoredRows();

    store::Database& m_database;
    const Clock& m_clock;
    const SigningKey m_key;
    Refusals* m_refusals;
    const Options m_options;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    bool m_stopping = false;
    std::thread m_thread;
};

} // namespace assay::audit
