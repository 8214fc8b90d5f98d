// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::cli {

/// Where a server listens: "http://HOST[:PORT]", "https://HOST[:PORT]" (HOST may be "[::1]") or "unix:PATH" (an
/// absolute path of at most 107 bytes, as sockaddr_un has it). No path, query or user part: the API's root is the
/// server's.
struct ServerAddress
{
    enum class Scheme : std::uint8_t { Http, Https, Unix };

    Scheme scheme = Scheme::Http;
    std::string host; ///< without brackets; empty for Unix
    std::string port; ///< decimal, 1..65535; empty for Unix
    std::string path; ///< of the socket; Unix only

    /// `InvalidArgument` says what is wrong and what the three forms are.
    static Result<ServerAddress> parse(std::string_view text);

    /// The value of the Host field.
    std::string authority() const;
    /// The form that `parse` reads.
    std::string text() const;
    /// True when what is sent cannot leave this machine in clear text: TLS, a socket file, or a loopback address.
    bool keepsSecrets() const;
};

} // namespace assay::cli
