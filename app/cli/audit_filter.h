// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/command.h"

namespace assay::cli {

/// What `audit list` and `audit export` are asked for.
struct AuditFilterOptions
{
    std::string decision;
    std::string operation;
    std::string actor;
    std::string run;
    std::string since;
    std::string until;
    std::string ledger;

    void addTo(Command& command);
    std::vector<std::pair<std::string, std::string>> query() const;
};

} // namespace assay::cli
