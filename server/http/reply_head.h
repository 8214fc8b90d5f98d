// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/exchange.h"

#include <string>

namespace assay::http {

enum class Framing : std::uint8_t { Length, Chunked, UntilClose };

struct ReplyFraming
{
    Framing framing = Framing::Length;
    std::uint64_t length = 0;
    bool close = false;
    bool isHttp10 = false;
    std::string_view requestId; ///< empty: not told
};

/// The status line and header fields of a reply, with the empty line. The server adds Date, framing, Connection,
/// `Assay-Request-Id`, `X-Content-Type-Options: nosniff`, and `Cache-Control: no-store` where the reply says nothing. A
/// field whose name or value could break the framing is left out.
std::string replyHead(const api::Reply& reply, const ReplyFraming& framing);

/// True for 1xx, 204 and 304, which never have a body.
bool hasNoBody(int status);

} // namespace assay::http
