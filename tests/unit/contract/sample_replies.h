// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/audit.h"
#include "server/contract/codec.h"

namespace assay::test {

/// One reply of every kind with every member filled, by the name of its schema in openapi.yaml; some come twice, once
/// with nothing in them ("Skill-empty").
std::vector<std::pair<std::string, json::object>> sampleReplies();

} // namespace assay::test
