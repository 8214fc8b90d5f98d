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
        return found->second.part;
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

bool HealthMonitor::isFresh(std::chrono::steady_clock::time_point since)
{
    const std::lock_guard lock(m_mutex);
    return m_lastEnded && *m_lastEnded >= since;
}

/// Probes of a monitoring system come every few seconds: by themselves they are a row when the state changes.
Result<void> HealthMonitor::keep(const auth::Identity* by, contract::PartHealth part)
{
    bool isRecorded = false;
    {
        const std::lock_guard lock(m_mutex);
        const auto found = m_drivers.find(part.name);
        isRecorded =
            !by && found != m_drivers.end() && found->second.isRecorded && found->second.part.state == part.state;
    }
    auto recorded = isRecorded ? Result<void>{} : m_parts.record(by, part);
    const std::lock_guard lock(m_mutex);
    const std::string name = part.name;
    m_drivers.insert_or_assign(name, Known{std::move(part), recorded.has_value()});
    return by ? recorded : Result<void>{}; // the server's own is tried again at the next probe
}

/// The caller holds the turn.
Result<contract::Health> HealthMonitor::run(const auth::Identity* by)
{
    Result<void> kept;
    for (const std::string& driver : m_parts.drivers())
        if (auto one = keep(by, examine(driver)); !one)
            kept = std::move(one);
    {
        const std::lock_guard lock(m_mutex);
        m_lastEnded = m_clock.steadyNow();
    }
    if (!kept)
        return forward(kept);
    return report();
}

/// Somebody else's handshake, made while this caller waited, is as good; that the caller asked is a decision of its
/// own.
Result<contract::Health> HealthMonitor::share(const auth::Identity* by)
{
    auto health = report();
    if (by)
        for (const contract::PartHealth& driver : health.drivers)
            if (auto recorded = m_parts.record(by, driver); !recorded)
                return forward(recorded);
    return health;
}

Result<contract::Health> HealthMonitor::handshake(const auth::Identity* by)
{
    const auto asked = m_clock.steadyNow();
    std::unique_lock turn(m_turn, std::defer_lock);
    const bool isFirst = turn.try_lock();
    if (!isFirst && !turn.try_lock_for(kPatience))
        return fail(ErrorCode::Unavailable, "another handshake has been running for 30 s; ask again later");
    return !isFirst && isFresh(asked) ? share(by) : run(by);
}

Result<void> HealthMonitor::judgeDrivers()
{
    const contract::Health health = report();
    const contract::PartHealth* worst = nullptr;
    for (const contract::PartHealth& driver : health.drivers) {
        if (driver.state == "ready")
            return {};
        if (driver.state != "disabled")
            worst = &driver;
    }
    if (!worst)
        return {}; // what is switched off on purpose is missed by nobody
    return fail(ErrorCode::Unavailable, "no box can be made: " + worst->reason +
                                            (worst->remedy.empty() ? "" : "; what to do: " + worst->remedy));
}

Result<void> HealthMonitor::ready()
{
    const contract::PartHealth store = m_parts.store();
    if (store.state != "ready")
        return fail(ErrorCode::Unavailable, "the store is not ready: " + store.reason);
    if (!isFresh(m_clock.steadyNow() - kRemembered)) {
        const std::unique_lock turn(m_turn, std::try_to_lock);
        if (turn && !isFresh(m_clock.steadyNow() - kRemembered))
            if (auto made = run(nullptr); !made)
                return forward(made);
    }
    return judgeDrivers();
}

} // namespace assay::api
