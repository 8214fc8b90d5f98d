// SPDX-License-Identifier: Apache-2.0
#include "app/cli/removal.h"

namespace assay::cli {

void addAgentDelete(Command& parent, Context& context)
{
    addRemoval(parent, context, {"delete", "Delete an agent", "NAME", "agents", "deleted", "deleted the agent "});
}

} // namespace assay::cli
