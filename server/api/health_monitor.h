// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/health_reporter.h"
#include "server/core/clock.h"

#include <map>
#include <mutex>

namespace assay::api {

/// Keeps what is known of the server's parts. A driver is `ready` only by its last handshake (E7); before the first it
/// is `unavailable`; no setting makes it ready. Does not: start threads, or ask by itself. Thread-safe; one handshake
/// runs at a time, and who comes meanwhile shares it.
class HealthMonitor final : public HealthReporter
{
public:
    /// What the monitor needs of the server.
    class Parts
    {
    public:
        virtual ~Parts() = default;
        virtual std::vector<std::string> drivers() = 0;
        /// State, reason and remedy of the driver by itself; at most 5 s.
        virtual contract::PartHealth probe(const std::string& driver) = 0;
        /// Runs a real command in a real box and checks its output: `message` is for people. At most 30 s.
        virtual Result<std::string> prove(const std::string& driver) = 0;
        /// For the audit ledger: what a handshake found.
        virtual Result<void> record(const auth::Identity* by, const contract::PartHealth& part) = 0;
        virtual contract::PartHealth store() = 0;
        virtual contract::PartHealth base() = 0;
        virtual contract::PartHealth gateway() = 0;
    };

    HealthMonitor(Parts& parts, const Clock& clock) : m_parts(parts), m_clock(clock) {}

    contract::Health report() override;
    /// Whoever comes while one runs waits for it (at most 30 s) and shares it. An error too when a person asked and
    /// that cannot be recorded.
    Result<contract::Health> handshake(const auth::Identity* by) override;
    /// The store answers, and a driver is ready or all are disabled. Anybody may ask, so it never waits for a handshake
    /// that runs: it answers by what is known then.
    Result<void> ready() override;

    /// `ready` believes a handshake for this long.
    static constexpr std::chrono::seconds kRemembered{5};

private:
    struct Known
    {
        contract::PartHealth part;
        bool isRecorded = false; ///< this state stands in the ledger
    };
    contract::PartHealth examine(const std::string& driver);
    Result<void> keep(const auth::Identity* by, contract::PartHealth part);
    Result<contract::Health> run(const auth::Identity* by);
    Result<contract::Health> share(const auth::Identity* by);
    bool isFresh(std::chrono::steady_clock::time_point since);
    Result<void> judgeDrivers();
    contract::Handshake prove(const std::string& driver);
    contract::PartHealth known(const std::string& driver);

    Parts& m_parts;
    const Clock& m_clock;
    std::timed_mutex m_turn;
    std::mutex m_mutex;
    std::map<std::string, Known> m_drivers;
    std::optional<std::chrono::steady_clock::time_point> m_lastEnded;
};

} // namespace assay::api
