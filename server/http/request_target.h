// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::http {

/// A request target, decoded once (RFC 3986). An encoded slash stays data inside its segment.
struct RequestTarget
{
    std::vector<std::string> segments;
    std::vector<std::pair<std::string, std::string>> query;
};

/// Reads the origin form, or the absolute form when its authority equals `host` (letter case aside). `InvalidArgument`
/// for the rest, for a fragment, empty and dot segments (encoded ones too), bad percent escapes, encoded NUL, and what
/// is not UTF-8 once it is decoded. One slash at the end is an empty segment and refused, the root `/` alone is not.
Result<RequestTarget> parseTarget(std::string_view target, std::string_view host);

} // namespace assay::http
