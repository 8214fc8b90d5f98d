// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/heads.h"
#include "server/audit/refusals.h"

#include <condition_variable>
#include <functional>
#include <thread>

namespace assay::audit {

/// Signs anchors: each chain that grew gets one when `rows` rows were added in all, or `interval` has passed, and when
/// the server stops. Signs no chain that is without what the remembered heads say was signed. Ends the episodes of
/// repeated refusals on the way. Owns a thread, which writes through the database's writer like everybody. Thread-safe.
class Anchorer
{
public:
    struct Options
    {
        std::int64_t rows = 1000;
        std::chrono::milliseconds interval{60'000};
        std::chrono::milliseconds look{1000};     ///< how often it is looked whether one is due
        std::function<void(const Error&)> report; ///< may be empty
        Heads* heads = nullptr;                   ///< none: nothing is remembered outside the database
    };
    Anchorer(store::Database& database, const Clock& clock, SigningKey key, Refusals* refusals, Options options);
    Anchorer(store::Database& database, const Clock& clock, SigningKey key)
        : Anchorer(database, clock, std::move(key), nullptr, {})
    {}
    /// Ends the thread, writes the refusals that are counted, and signs what is left.
    ~Anchorer();

    /// Signs the newest row of every chain that grew since its last anchor; the number of anchors. Goes to the row that
    /// was the newest at the call. An error tells also of a chain that does not hold what was signed; others are
    /// signed.
    Result<std::uint64_t> anchorNow();
    const SigningKey& key() const { return m_key; }

private:
    void loop();
    struct Step
    {
        std::vector<Anchor> anchors;
        std::int64_t row = 0; ///< up to which all is looked at
        bool isEnd = false;   ///< no row was left
        std::string refused;  ///< a chain that was not signed, for people; empty: none
    };
    Result<Step> step(store::Connection& connection, const Heads::Known& known);
    std::unexpected<Error> refuse(const std::string& chain);
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
