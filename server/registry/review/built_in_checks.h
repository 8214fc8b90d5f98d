// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/review/checks.h"

namespace assay::review {

/// The checks that every server has (docs/review.md, "Checks"): package_valid, lints, capabilities_reviewed,
/// test_run.
std::vector<std::unique_ptr<Check>> builtInChecks();

} // namespace assay::review
