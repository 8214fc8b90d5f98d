// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/anchor.h"
#include "server/contract/audit.h"

namespace assay::audit {

/// Rows and anchors in the contract's form and back, with every byte that is hashed. Pure; `InvalidArgument` for a
/// digest or a signature that is none.

contract::AuditEntry entryOf(const Row& row);
Result<Row> rowOf(const contract::AuditEntry& entry);
contract::AuditAnchor anchorEntryOf(const Anchor& anchor);
Result<Anchor> anchorOf(const contract::AuditAnchor& entry);

} // namespace assay::audit
