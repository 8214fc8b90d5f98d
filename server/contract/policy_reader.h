// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/agent.h"
#include "server/contract/object_reader.h"

namespace assay::contract {

/// What agents and runs share in their bodies: an egress grant and limits. The bounds here only keep numbers sane; the
/// operator's ceilings are judged where the run is resolved.
void readEgress(ObjectReader& in, Egress& out);
void readLimits(ObjectReader& in, RunLimits& out);

} // namespace assay::contract
