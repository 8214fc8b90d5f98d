// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/sample.h"
#include "server/store/sample_table.h"

namespace assay::runs {

/// Two runs side by side: outputs, results by path, and how JSON outputs differ. Pure.
contract::Comparison compareRuns(const store::ComparisonRow& row, contract::Run from, contract::Run to);

/// Where two JSON values differ, by pointer, in document order: members by name, elements by index; 1 equals 1.0. At
/// most `limit` are listed; true when there are more. Pure; recursion is bounded by the parser's depth.
bool diffJson(const json::value& from, const json::value& to, std::size_t limit,
              std::vector<contract::JsonDifference>& out);

} // namespace assay::runs
