// SPDX-License-Identifier: Apache-2.0
#include "server/api/health_monitor.h"

#include <algorithm>
#include <chrono>

namespace assay::api {

namespace {

constexpr std::chrono::seconds kPatience{30};

std::uint64_t millisecondsSince(std::chrono::steady_clock::time_point start, const Clock& clock)
{
    const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(clock.steadyNow() - start);
    return static_cast<std::uint64_t>(std::max<std::int64_t>(elapsed.count(), 0));
}

} // namespace

contract::PartHealth HealthMonitor::known(const std::string& driver)
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_drivers.find(driver);
    if (found != m_drivers.end())
        return found->second;
    return {.name = driver,
            .state = "unavailable",
            .reason = "no handshake has been made since the server started",
            .remedy = "run one: POST /v1/health/handshake"};
}

contract::Health HealthMonitor::report()
{
    contract::Health health{{}, m_parts.gateway(), m_parts.store(), m_parts.base()};
    for (const std::string& driver : m_parts.drivers())
        health.drivers.push_back(known(driver));
    return health;
}

contract::Handshake HealthMonitor::prove(const std::string& driver)
{
    const auto start = m_clock.steadyNow();
    const auto proof = m_parts.prove(driver);
    return {.passed = proof.has_value(),
            .at = m_clock.now(),
            .durationMs = millisecondsSince(start, m_clock),
            .message = proof ? *proof : proof.error().message};
}

contract::PartHealth HealthMonitor::examine(const std::string& driver)
{
    contract::PartHealth part = m_parts.probe(driver);
    part.name = driver;
    if (part.state != "ready") {
        part.lastHandshake = known(driver).lastHandshake;
        return part;
    }
    part.lastHandshake = prove(driver);
    if (!part.lastHandshake->passed) {
        part.state = "unavailable";
        part.reason = part.lastHandshake->message;
    }
    return part;
}

Result<contract::Health> HealthMonitor::handshake()
{
    const std::unique_lock turn(m_turn, kPatience);
    if (!turn)
        return fail(ErrorCode::Unavailable, "another handshake has been running for 30 s; ask again later");
    for (const std::string& driver : m_parts.drivers()) {
        contract::PartHealth part = examine(driver);
        const std::lock_guard lock(m_mutex);
        m_drivers.insert_or_assign(driver, std::move(part));
    }
    return report();
}

Result<void> HealthMonitor::ready()
{
    const contract::PartHealth store = m_parts.store();
    if (store.state != "ready")
        return fail(ErrorCode::Unavailable, "the store is not ready: " + store.reason);
    return {};
}

} // namespace assay::api
