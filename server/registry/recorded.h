// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/ledger.h"

namespace assay::registry {

/// `out`, with the row of the decision that made it; when that cannot be written the transaction is taken back.
template <typename T>
Result<T> recorded(audit::Ledger& ledger, store::Connection& connection, const auth::Identity& by,
                   audit::Operation operation, audit::ResourceType type, std::string resource, T out)
{
    auto record = audit::recordBy(by, operation, audit::Decision::Allowed, type, std::move(resource));
    if (auto added = ledger.append(connection, record); !added)
        return forward(added);
    return out;
}

} // namespace assay::registry
