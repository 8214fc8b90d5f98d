// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <string_view>
#include <vector>

namespace assay::sandbox {

/// A pattern over relative paths: `*` is any run of bytes without a slash, `?` one byte but a slash, `**` as a whole
/// segment any number of segments, none included; everything else is itself. At most 512 bytes and 64 segments. The
/// cost of a match is bounded by the product of both lengths, whatever the pattern.
class Glob
{
public:
    /// `InvalidArgument` for an empty, absolute or too long pattern, an empty, "." or ".." segment.
    static Result<Glob> parse(std::string_view pattern);
    bool matches(std::string_view path) const;

private:
    std::vector<std::string> m_segments;
};

} // namespace assay::sandbox
