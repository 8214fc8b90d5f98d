// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/package.h"

namespace assay::registry {

/// Text is UTF-8 without NUL; anything else is an asset.
FileKind fileKindOf(std::string_view content);

/// The media type by the extension of `path` (IANA names); "text/plain" or "application/octet-stream" for others. An
/// asset never gets a `text/` type: its bytes are not what the type promises.
std::string mediaTypeOf(std::string_view path, FileKind kind);

/// True for the extensions that must be UTF-8 (architecture.md, "The package and its digest"), in any case.
bool mustBeText(std::string_view path);

/// True for what a skill has to execute rather than read: a file with the executable bit, anything below `scripts/`.
bool needsExecution(std::string_view path, bool executable);

/// True for the extensions of scripts, whose line endings and executable bits are linted.
bool isScript(std::string_view path);

/// The extension of the last segment in lower case without the dot; empty when there is none.
std::string extensionOf(std::string_view path);

} // namespace assay::registry
