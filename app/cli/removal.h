// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/command.h"

namespace assay::cli {

/// A command that deletes one thing of a collection of the API. The texts live as long as the program.
struct Removal
{
    const char* command; ///< "delete"
    const char* about;
    const char* argument;   ///< "NAME"
    const char* collection; ///< "agents": DELETE /v1/agents/NAME
    const char* done;       ///< what --json calls it: {"deleted": NAME}
    const char* before;     ///< the sentence for people is `before` NAME `after`
    const char* after = "";
};

void addRemoval(Command& parent, Context& context, const Removal& removal);

} // namespace assay::cli
