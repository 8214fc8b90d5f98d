// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace assay::contract {

/// server/contract/openapi.yaml as JSON, made when the program was built. Lives as long as the program.
std::string_view openApiJson();

} // namespace assay::contract
