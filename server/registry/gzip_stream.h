// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <memory>
#include <string>
#include <string_view>

namespace assay::registry {

/// Unpacks the one gzip member (RFC 1952) that a file consists of. What lenient readers let pass is `corrupt_archive`:
/// a second member, bytes after the end, a wrong checksum or length, a missing end. Not synchronized.
class GzipStream
{
public:
    /// Reads `fd`, a regular file, from offset 0; it stays open as long as this.
    static Result<GzipStream> open(int fd);
    ~GzipStream();
    GzipStream(GzipStream&&) noexcept;
    GzipStream& operator=(GzipStream&&) noexcept;

    /// The next bytes, at most 64 KiB; empty at the end. The view holds until the next call.
    Result<std::string_view> next();

private:
    struct State;
    explicit GzipStream(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace assay::registry
