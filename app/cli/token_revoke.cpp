// SPDX-License-Identifier: Apache-2.0
#include "app/cli/removal.h"

namespace assay::cli {

void addTokenRevoke(Command& parent, Context& context)
{
    addRemoval(parent, context, {"revoke", "Refuse a token from now on", "ID", "tokens", "revoked", "revoked "});
}

} // namespace assay::cli
