// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::http {

/// Where a listener listens and how far it trusts who connects; the syntax is docs/http.md's ("Listeners").
///
///     127.0.0.1:8473   [::1]:8473   localhost:8473   0.0.0.0:0   unix:/run/assay.sock
///     options after `?`, joined by `&`: ingress=trusted, tls=off, mode=0660 (UNIX only)
struct ListenAddress
{
    enum class Family : std::uint8_t { IPv4, IPv6, Unix };
    enum class Ingress : std::uint8_t { Token, Trusted };
    enum class Tls : std::uint8_t { WhenConfigured, Off };

    Family family = Family::IPv4;
    std::string host; ///< numeric, without brackets; or the path of the socket
    std::uint16_t port = 0;
    Ingress ingress = Ingress::Token;
    Tls tls = Tls::WhenConfigured;
    unsigned mode = 0600; ///< permissions of a UNIX socket

    bool isLoopback() const;

    bool operator==(const ListenAddress&) const = default;
};

/// `InvalidArgument` names the part that is wrong. Trusted ingress over TCP is refused unless the address is loopback:
/// whoever reaches such a listener may name any scope.
Result<ListenAddress> parseListenAddress(std::string_view text);

} // namespace assay::http
