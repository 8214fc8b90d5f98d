// SPDX-License-Identifier: Apache-2.0
#include "app/cli/audit_filter.h"

namespace assay::cli {

void AuditFilterOptions::addTo(Command& command)
{
    command.option("--decision", decision, "Only allowed, refused, executed, terminated or outcome_unknown");
    command.option("--operation", operation, "Only this operation (command.execute, skill.publish, ...)");
    command.option("--actor", actor, "Only what this principal did");
    command.option("--run", run, "Only what belongs to this run");
    command.option("--since", since, "Only at or after this time (RFC 3339)");
    command.option("--until", until, "Only before this time (RFC 3339)");
    command.option("--ledger", ledger, "scope or server; what the token may read when absent");
}

std::vector<std::pair<std::string, std::string>> AuditFilterOptions::query() const
{
    return {{"decision", decision}, {"operation", operation}, {"actor", actor},  {"run", run},
            {"since", since},       {"until", until},         {"ledger", ledger}};
}

} // namespace assay::cli
