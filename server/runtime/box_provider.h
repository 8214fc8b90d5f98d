// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/runs/run_service.h"
#include "server/runtime/data_directory.h"
#include "server/runtime/settings.h"
#include "server/sandbox/base/current_base.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::runtime {

/// The drivers of this machine and the root that boxes start from: the newest base of the data directory. A base that
/// is there and damaged refuses every box; the host never takes its place. Thread-safe after `open`.
class BoxProvider final : public runs::BoxProvider
{
public:
    /// A machine that cannot make boxes still gets a provider, whose driver says why. Looks for `assay-init` beside the
    /// running program and in ../libexec/assay.
    static Result<std::unique_ptr<BoxProvider>> open(const Settings& settings, const DataDirectory& directory);

    Result<sandbox::BoxDriver*> driver(std::string_view name) override;
    /// With a damaged base: a root that no box can start from.
    sandbox::BaseRoot base() override;

    std::vector<std::string> names() const;
    /// Removes what boxes of a killed server left; their ids, for the log.
    Result<std::vector<std::string>> reap();

private:
    explicit BoxProvider(const DataDirectory& directory) : m_base(directory.path()) {}
    std::string m_default;
    sandbox::base::CurrentBase m_base;
    std::vector<std::unique_ptr<sandbox::BoxDriver>> m_drivers;
};

} // namespace assay::runtime
