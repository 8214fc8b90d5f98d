// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/health_monitor.h"
#include "server/audit/heads.h"
#include "server/audit/ledger.h"
#include "server/runs/run_service.h"
#include "server/store/database.h"

namespace assay::api {

/// The server's real parts, for `HealthMonitor`. Thread-safe as far as the monitor calls it.
class ServerParts final : public HealthMonitor::Parts
{
public:
    /// `drivers`: the names `boxes` knows; with placement `disabled`, none is tried. `cachePlace`: see
    /// runs::RunService. `heads` (may be null): what is wrong with the ledger is told with the store.
    ServerParts(store::Database& database, audit::Ledger& ledger, runs::RunService& runs, runs::BoxProvider& boxes,
                std::vector<std::string> drivers, bool executionEnabled, std::string cachePlace = {},
                const audit::Heads* heads = nullptr)
        : m_database(database),
          m_ledger(ledger),
          m_runs(runs),
          m_boxes(boxes),
          m_drivers(std::move(drivers)),
          m_executionEnabled(executionEnabled),
          m_cachePlace(std::move(cachePlace)),
          m_heads(heads)
    {}

    std::vector<std::string> drivers() override { return m_drivers; }
    contract::PartHealth probe(const std::string& driver) override;
    Result<std::string> prove(const std::string& driver) override;
    Result<void> record(const auth::Identity* by, const contract::PartHealth& part) override;
    contract::PartHealth store() override;
    contract::PartHealth base() override;
    contract::PartHealth gateway() override;

private:
    store::Database& m_database;
    audit::Ledger& m_ledger;
    runs::RunService& m_runs;
    runs::BoxProvider& m_boxes;
    std::vector<std::string> m_drivers;
    bool m_executionEnabled;
    std::string m_cachePlace;
    const audit::Heads* m_heads;
};

} // namespace assay::api
