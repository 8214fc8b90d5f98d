// SPDX-License-Identifier: Apache-2.0
#include "app/cli/server_address.h"

#include <charconv>

namespace assay::cli {

namespace {

constexpr std::string_view kForms = R"(write "http://HOST:PORT", "https://HOST:PORT" or "unix:/PATH")";
constexpr std::size_t kLongestSocketPath = 107;

std::unexpected<Error> bad(std::string_view text, std::string_view why)
{
    return fail(ErrorCode::InvalidArgument,
                "the server's address \"" + std::string(text) + "\" " + std::string(why) + "; " + std::string(kForms));
}

bool isPort(std::string_view text)
{
    unsigned value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    return fault == std::errc() && end == text.data() + text.size() && value >= 1 && value <= 65535;
}

bool isHostCharacter(char c)
{
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

Result<ServerAddress> parseSocket(std::string_view text, std::string_view path)
{
    if (!path.starts_with('/') || path.size() > kLongestSocketPath || path.contains('\0'))
        return bad(text, "is not an absolute path of at most 107 bytes");
    return ServerAddress{ServerAddress::Scheme::Unix, {}, {}, std::string(path)};
}

Result<ServerAddress> parseAuthority(std::string_view text, std::string_view rest, ServerAddress::Scheme scheme)
{
    if (rest.ends_with('/'))
        rest.remove_suffix(1);
    ServerAddress out{scheme, {}, scheme == ServerAddress::Scheme::Https ? "443" : "80", {}};
    if (rest.starts_with('[')) {
        const std::size_t close = rest.find(']');
        if (close == std::string_view::npos ||
            rest.substr(1, close - 1).find_first_not_of("0123456789abcdefABCDEF:.") != std::string_view::npos)
            return bad(text, "holds no IPv6 address between its brackets");
        out.host = rest.substr(1, close - 1);
        rest.remove_prefix(close + 1);
    } else {
        const std::size_t colon = rest.find(':');
        out.host = rest.substr(0, colon);
        rest.remove_prefix(std::min(colon, rest.size()));
        for (const char c : out.host)
            if (!isHostCharacter(c))
                return bad(text, "has more than a host and a port");
    }
    if (out.host.empty() || out.host.size() > 255)
        return bad(text, "names no host");
    if (!rest.empty()) {
        if (!rest.starts_with(':') || !isPort(rest.substr(1)))
            return bad(text, "has no port of 1..65535 after its colon");
        out.port = rest.substr(1);
    }
    return out;
}

} // namespace

Result<ServerAddress> ServerAddress::parse(std::string_view text)
{
    if (text.starts_with("unix:"))
        return parseSocket(text, text.substr(5));
    if (text.starts_with("http://"))
        return parseAuthority(text, text.substr(7), Scheme::Http);
    if (text.starts_with("https://"))
        return parseAuthority(text, text.substr(8), Scheme::Https);
    return bad(text, "has none of the known forms");
}

std::string ServerAddress::authority() const
{
    if (scheme == Scheme::Unix)
        return "localhost";
    const std::string shown = host.contains(':') ? "[" + host + "]" : host;
    const std::string_view usual = scheme == Scheme::Https ? "443" : "80";
    return port == usual ? shown : shown + ":" + port;
}

std::string ServerAddress::text() const
{
    if (scheme == Scheme::Unix)
        return "unix:" + path;
    return (scheme == Scheme::Https ? "https://" : "http://") + authority();
}

bool ServerAddress::keepsSecrets() const
{
    if (scheme != Scheme::Http)
        return true;
    const bool loopbackV4 = host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos;
    return loopbackV4 || host == "::1" || host == "localhost";
}

} // namespace assay::cli
