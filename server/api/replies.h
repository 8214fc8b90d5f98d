// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/request.h"

namespace assay::api {

// The forms a reply takes. Every reply says how long it may be kept; `X-Content-Type-Options:
// nosniff` is added to all of them by the HTTP server.

/// A list or another answer that nobody may keep.
Reply jsonReply(int status, const json::object& body);

/// A single resource with its entity tag (unquoted; empty: made of the body); 304 for a GET or HEAD whose
/// `If-None-Match` names it.
Reply resourceReply(const Request& request, int status, const json::object& body, std::string_view tag = {});

Reply noContent();

/// A problem document (RFC 9457) with the headers its code needs. Nothing in it tells one missing object from another:
/// `instance` is the route's fixed part.
Reply problemReply(const Error& error, std::string_view instance);

/// May a download be kept for ever, or must each use ask again?
enum class Keep : std::uint8_t { Forever, AskAgain };

/// Bytes that a user sent or a box made: never rendered by a browser (attachment, sandbox, a harmless type).
struct Download
{
    Reply::Shared bytes;
    std::string tag;       ///< unquoted
    std::string mediaType; ///< as stored; replaced by a harmless one when it is not on the list
    std::string fileName;  ///< what to save as; any UTF-8
    Keep keep = Keep::AskAgain;
};
/// 304 for an `If-None-Match` that names the tag.
Reply downloadReply(const Request& request, Download download);

/// A type that no browser runs: images, fonts and plain text stay what they are, other text becomes `text/plain`,
/// everything else `application/octet-stream`.
std::string harmlessMediaType(std::string_view mediaType);

/// RFC 6266 with an ASCII fallback.
std::string attachmentHeader(std::string_view fileName);

} // namespace assay::api
