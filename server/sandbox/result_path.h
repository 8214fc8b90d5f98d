// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace assay::sandbox {

/// Fit to name an artifact: UTF-8, at most 512 bytes, no control character, no backslash, and none of the invisible or
/// direction-changing characters that a package's path may not have either (architecture.md, "Unsafe path").
bool isSafeResultPath(std::string_view path);

/// A path as text for a message or a list: at most 512 bytes of it, each byte that is not part of a harmless character
/// as \xNN.
std::string printablePath(std::string_view path);

} // namespace assay::sandbox
