// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/ledger_table.h"

namespace assay::audit {

/// The statement behind `LedgerTable::list`, for the test of its plan. Pure.
std::string_view pageSql(const RowQuery& query);

} // namespace assay::audit
