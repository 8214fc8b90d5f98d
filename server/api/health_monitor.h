// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/health_reporter.h"
#include "server/core/clock.h"

#include <map>
#include <mutex>

namespace assay::api {

/// Keeps what is known of the server's parts. A driver is `ready` only by its last handshake (E7); before the first it
/// is `unavailable`. Does not: start threads, or ask by itself. Thread-safe; `handshake` runs one at a time.
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
        virtual contract::PartHealth store() = 0;
        virtual contract::PartHealth base() = 0;
        virtual contract::PartHealth gateway() = 0;
    };

    HealthMonitor(Parts& parts, const Clock& clock) : m_parts(parts), m_clock(clock) {}

    contract::Health report() override;
    Result<contract::Health> handshake() override;
    /// The store answers: publishing and reading work. A driver that is not there does not stop those.
    Result<void> ready() override;

private:
    contract::PartHealth examine(const std::string& driver);
    contract::Handshake prove(const std::string& driver);
    contract::PartHealth known(const std::string& driver);

    Parts& m_parts;
    const Clock& m_clock;
    std::timed_mutex m_turn;
    std::mutex m_mutex;
    std::map<std::string, contract::PartHealth> m_drivers;
};

} // namespace assay::api
