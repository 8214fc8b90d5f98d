// SPDX-License-Identifier: Apache-2.0
#include "app/cli/removal.h"

namespace assay::cli {

void addSkillDelete(Command& parent, Context& context)
{
    addRemoval(parent, context,
               {"delete", "Take a skill out of use; publishing it again continues its history", "NAME", "skills",
                "deleted", "deleted ", "; runs that pinned it keep their revisions"});
}

} // namespace assay::cli
