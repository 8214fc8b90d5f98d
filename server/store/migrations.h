// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace assay::store {

/// The steps of the schema, in order: step N brings schema N to N + 1. A step that has been released never changes; a
/// new one is added at the end. docs/storage.md describes the tables.
std::span<const char* const> migrations();

} // namespace assay::store
