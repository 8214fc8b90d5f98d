// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/exchange.h"
#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/database.h"
#include "server/store/idempotency_table.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>

namespace assay::api {

/// What an operation gave: its reply, and whether the same request would always give it.
struct Answer
{
    Reply reply;
    enum class Kind : std::uint8_t { Deterministic, Passing } kind = Kind::Passing;
};

/// A request that carried an `Idempotency-Key`.
struct KeyedRequest
{
    std::string scopeFingerprint;
    std::string principal; ///< who asks: a key is nobody else's
    std::string route;     ///< method and path, so that one key may serve two runs
    std::string key;
    Digest bodyDigest;
    /// For answers that hold a secret: the key to seal them with, which the database does not have.
    std::optional<Digest> sealKey;
};

/// Answers kept for 24 hours under scope, person, route and key (api.md, "Conventions"): the same request is executed
/// once, and repeated it gets the first answer again. That it was begun is durable before it is executed, so after a
/// crash between the operation and its answer a repeat is refused and never executes again. Thread-safe; calls block.
class KeptAnswers
{
public:
    /// `patience`: how long a repeated request waits for the first, before it is a `Conflict`.
    KeptAnswers(store::Database& database, const Clock& clock,
                std::chrono::milliseconds patience = std::chrono::seconds(30))
        : m_database(database), m_clock(clock), m_patience(patience)
    {}

    /// The kept reply, or what `execute` gives, which is kept when it is deterministic. `Conflict` when the key was
    /// used with another body, while the first request still runs, or when a crash cut it off; `Unavailable` when the
    /// database cannot be read.
    Result<Reply> answer(const KeyedRequest& request, const std::function<Answer()>& execute);

private:
    struct Turn; // holds one key while its request runs
    Result<std::optional<Reply>> kept(const KeyedRequest& request);
    Result<void> begin(const KeyedRequest& request);
    Result<void> keep(const KeyedRequest& request, const Reply& reply);
    void forget(const KeyedRequest& request);

    store::Database& m_database;
    const Clock& m_clock;
    std::chrono::milliseconds m_patience;
    std::mutex m_mutex;
    std::condition_variable m_ended;
    std::set<std::string> m_running;
};

} // namespace assay::api
