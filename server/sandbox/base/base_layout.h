// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/base/base_store.h"

#include <filesystem>
#include <string>

namespace assay::sandbox::base {

inline std::filesystem::path basesFolder(const std::filesystem::path& dataDirectory) { return dataDirectory / "bases"; }

/// The content of info.json, and back. `InvalidArgument` for a document that is not one.
std::string encodeInfo(const BaseInfo& info);
Result<BaseInfo> decodeInfo(const std::string& text);

} // namespace assay::sandbox::base
