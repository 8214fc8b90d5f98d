// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::http {

/// The head of a request as it stood on the wire: nothing decoded, nothing judged.
struct WireHead
{
    std::string method;
    std::string target;
    unsigned minorVersion = 1;                               ///< HTTP/1.<minorVersion>
    std::vector<std::pair<std::string, std::string>> fields; ///< names in lower case, values without outer blanks
};

/// Parses one request (RFC 9112) from bytes that `HeadScan` has passed, with Beast: the head, then the body's framing
/// by length or chunks. Not synchronized.
class RequestParser
{
public:
    RequestParser();
    ~RequestParser();
    RequestParser(RequestParser&&) noexcept;
    RequestParser& operator=(RequestParser&&) noexcept;

    /// `raw` is exactly the head, from the request line to the empty line. `InvalidArgument` when it is not one.
    Result<WireHead> parseHead(std::string_view raw);

    /// Takes body bytes off `raw` and appends what they carry to `out`, at most about `raw.size()`. Returns how many
    /// bytes of `raw` were used; fewer than all means that a piece is incomplete, or that the body is at its end.
    Result<std::size_t> feedBody(std::string_view raw, std::string& out);
    /// True when the request, body and trailers included, has been read.
    bool isDone() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace assay::http
