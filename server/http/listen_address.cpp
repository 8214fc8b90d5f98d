// SPDX-License-Identifier: Apache-2.0
#include "server/http/listen_address.h"

#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <optional>
#include <sys/un.h>

namespace assay::http {

namespace {

std::unexpected<Error> invalid(std::string_view text, std::string_view why)
{
    return fail(ErrorCode::InvalidArgument, "the listen address \"" + std::string(text) + "\" is not valid: " +
                                                std::string(why) + "; write host:port, [ipv6]:port or unix:/path");
}

bool isNumeric(int family, const std::string& host)
{
    std::array<unsigned char, sizeof(in6_addr)> out{};
    return ::inet_pton(family, host.c_str(), out.data()) == 1;
}

std::optional<unsigned> number(std::string_view text, unsigned limit, int base)
{
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size() || value > limit)
        return std::nullopt;
    return value;
}

Result<void> readOption(std::string_view whole, std::string_view option, ListenAddress& out)
{
    if (option == "ingress=trusted") {
        out.ingress = ListenAddress::Ingress::Trusted;
        return {};
    }
    if (option == "tls=off") {
        out.tls = ListenAddress::Tls::Off;
        return {};
    }
    if (option.starts_with("mode=") && out.family == ListenAddress::Family::Unix) {
        const auto mode = number(option.substr(5), 0777, 8);
        if (!mode)
            return invalid(whole, "mode is an octal number up to 0777");
        out.mode = *mode;
        return {};
    }
    return invalid(whole, "the options are ingress=trusted, tls=off and, for unix, mode=0660");
}

Result<void> readOptions(std::string_view whole, std::string_view options, ListenAddress& out)
{
    while (!options.empty()) {
        const auto end = options.find('&');
        if (auto read = readOption(whole, options.substr(0, end), out); !read)
            return read;
        options = end == std::string_view::npos ? std::string_view{} : options.substr(end + 1);
    }
    return {};
}

Result<void> readUnix(std::string_view whole, std::string_view path, ListenAddress& out)
{
    out.family = ListenAddress::Family::Unix;
    out.host = path;
    if (!path.starts_with('/') || path.size() >= sizeof(sockaddr_un::sun_path))
        return invalid(whole, "the path of a socket is absolute and at most 107 bytes");
    return {};
}

Result<void> readTcp(std::string_view whole, std::string_view place, ListenAddress& out)
{
    const auto colon = place.rfind(':');
    if (colon == std::string_view::npos)
        return invalid(whole, "the port is missing");
    const auto port = number(place.substr(colon + 1), 65535, 10);
    if (!port)
        return invalid(whole, "the port is a number from 0 to 65535");
    std::string_view host = place.substr(0, colon);
    const bool bracketed = host.starts_with('[') && host.ends_with(']');
    out.family = bracketed ? ListenAddress::Family::IPv6 : ListenAddress::Family::IPv4;
    out.host = bracketed ? host.substr(1, host.size() - 2) : host == "localhost" ? "127.0.0.1" : host;
    out.port = static_cast<std::uint16_t>(*port);
    if (!isNumeric(bracketed ? AF_INET6 : AF_INET, out.host))
        return invalid(whole, "the host is a numeric address or localhost");
    return {};
}

} // namespace

bool ListenAddress::isLoopback() const
{
    return family == Family::Unix || (family == Family::IPv4 && host.starts_with("127.")) ||
           (family == Family::IPv6 && host == "::1");
}

Result<ListenAddress> parseListenAddress(std::string_view text)
{
    ListenAddress out;
    const auto question = text.find('?');
    const auto place = text.substr(0, question);
    auto read = place.starts_with("unix:") ? readUnix(text, place.substr(5), out) : readTcp(text, place, out);
    if (read && question != std::string_view::npos)
        read = readOptions(text, text.substr(question + 1), out);
    if (!read)
        return forward(read);
    if (out.ingress == ListenAddress::Ingress::Trusted && !out.isLoopback())
        return invalid(text, "trusted ingress over TCP is for loopback addresses only; use a UNIX socket");
    return out;
}

} // namespace assay::http
