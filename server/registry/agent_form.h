// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/agent.h"

namespace assay::registry {

/// The canonical JSON (RFC 8785) of a definition: what the catalog stores and what an agent's digest is of. Members at
/// their defaults are written too, so the digest does not depend on how a definition was said. docs/storage.md.
std::string writeDefinition(const contract::AgentDefinition& definition);

/// `Internal` when the stored form is damaged.
Result<contract::AgentDefinition> readDefinition(std::string_view stored);

} // namespace assay::registry
