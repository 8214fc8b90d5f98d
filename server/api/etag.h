// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <optional>
#include <string>
#include <string_view>

namespace assay::api {

// Entity tags and conditions (RFC 9110, sections 8.8.3 and 13.1). Tags here are written without quotes. Pure.

/// Quoted, as a header carries it.
std::string quotedTag(std::string_view tag);

/// A strong tag for a body that has no version of its own: 128 bits of its SHA-256.
std::string tagOfBody(std::string_view body);

/// The value of `If-Match`: absent, "*", or one strong tag. A weak tag is given as one that matches nothing.
/// `InvalidArgument` for a list: no operation here takes more than one.
Result<std::optional<std::string>> readIfMatch(std::string_view header);

/// Does `If-None-Match` name `tag` (weak comparison) or "*"? Malformed parts match nothing.
bool noneMatchNames(std::string_view header, std::string_view tag);

/// For operations that create: true for `If-None-Match: *`, false when absent, `InvalidArgument` for tags.
Result<bool> readCreateOnly(std::string_view header);

} // namespace assay::api
