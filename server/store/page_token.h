// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::store {

/// Which list a page token belongs to: its kind ("skills"), the scope, and the filter as the caller writes it down.
struct ListIdentity
{
    std::string_view kind;
    std::string_view fingerprint;
    std::vector<std::string_view> filter;
};

/// An opaque page token (base64url) for the position `cursor` of that list. It carries a digest of the list's identity,
/// so a token of another scope, list or filter is refused; a made-up cursor reaches nothing, for every query takes the
/// scope. Format: docs/storage.md.
std::string makePageToken(const ListIdentity& list, std::string_view cursor);

/// The cursor of a token, empty for the empty token (the first page). `InvalidArgument` at `/page_token` otherwise.
Result<std::string> readPageToken(const ListIdentity& list, std::string_view token);

} // namespace assay::store
