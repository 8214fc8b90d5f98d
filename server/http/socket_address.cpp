// SPDX-License-Identifier: Apache-2.0
#include "server/http/socket_address.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <system_error>

namespace assay::http {

namespace {

constexpr int kBacklog = 1024;

struct Place
{
    sockaddr_storage storage{};
    socklen_t size = 0;
    sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

Place placeOf(const ListenAddress& address)
{
    Place place;
    if (address.family == ListenAddress::Family::Unix) {
        auto* path = reinterpret_cast<sockaddr_un*>(&place.storage);
        path->sun_family = AF_UNIX;
        address.host.copy(path->sun_path, sizeof(path->sun_path) - 1);
        place.size = sizeof(sockaddr_un);
    } else if (address.family == ListenAddress::Family::IPv6) {
        auto* six = reinterpret_cast<sockaddr_in6*>(&place.storage);
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(address.port);
        ::inet_pton(AF_INET6, address.host.c_str(), &six->sin6_addr);
        place.size = sizeof(sockaddr_in6);
    } else {
        auto* four = reinterpret_cast<sockaddr_in*>(&place.storage);
        four->sin_family = AF_INET;
        four->sin_port = htons(address.port);
        ::inet_pton(AF_INET, address.host.c_str(), &four->sin_addr);
        place.size = sizeof(sockaddr_in);
    }
    return place;
}

std::unexpected<Error> cannot(const ListenAddress& address, std::string_view what, int errnoValue)
{
    std::string where = address.host;
    if (address.family != ListenAddress::Family::Unix)
        where += ", port " + std::to_string(address.port);
    return fail(ErrorCode::Unavailable, "cannot " + std::string(what) + " " + where + ": " +
                                            std::generic_category().message(errnoValue) +
                                            "; choose another address, or end who uses it");
}

/// A socket file that nobody serves any more is removed; one that answers stays, and bind then says so.
void removeStaleSocket(Place& place, const std::string& path)
{
    struct stat found{};
    if (::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode))
        return;
    const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (probe && ::connect(probe.get(), place.get(), place.size) != 0 && errno == ECONNREFUSED)
        ::unlink(path.c_str());
}

std::uint16_t boundPort(int socket)
{
    Place place;
    place.size = sizeof(place.storage);
    if (::getsockname(socket, place.get(), &place.size) != 0)
        return 0;
    return ntohs(place.storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&place.storage)->sin6_port
                                                     : reinterpret_cast<sockaddr_in*>(&place.storage)->sin_port);
}

int bindUnix(int socket, Place& place, const ListenAddress& address)
{
    removeStaleSocket(place, address.host);
    // Linux makes the file with the socket's own mode, less the umask: nobody may connect before chmod has said who.
    ::fchmod(socket, 0);
    const int bound = ::bind(socket, place.get(), place.size);
    return bound == 0 ? ::chmod(address.host.c_str(), address.mode) : bound;
}

int bindTcp(int socket, Place& place, const ListenAddress& address)
{
    const int on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address.family == ListenAddress::Family::IPv6)
        ::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); // accepted sockets inherit it
    return ::bind(socket, place.get(), place.size);
}

} // namespace

Result<UniqueFd> listenOn(ListenAddress& address)
{
    Place place = placeOf(address);
    UniqueFd socket(::socket(place.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket)
        return cannot(address, "open a socket for", errno);
    const bool isUnix = address.family == ListenAddress::Family::Unix;
    if ((isUnix ? bindUnix(socket.get(), place, address) : bindTcp(socket.get(), place, address)) != 0)
        return cannot(address, "listen on", errno);
    if (::listen(socket.get(), kBacklog) != 0)
        return cannot(address, "listen on", errno);
    if (!isUnix)
        address.port = boundPort(socket.get());
    return socket;
}

std::string peerKey(int socket, ListenAddress::Family family)
{
    if (family == ListenAddress::Family::Unix) {
        ucred peer{};
        socklen_t size = sizeof peer;
        ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size);
        return "user:" + std::to_string(peer.uid);
    }
    Place place;
    place.size = sizeof(place.storage);
    if (::getpeername(socket, place.get(), &place.size) != 0)
        return "gone";
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (place.storage.ss_family == AF_INET6) {
        auto address = reinterpret_cast<sockaddr_in6*>(&place.storage)->sin6_addr;
        std::fill(std::begin(address.s6_addr) + 8, std::end(address.s6_addr), std::uint8_t{0});
        ::inet_ntop(AF_INET6, &address, text.data(), text.size());
        return std::string("6:") + text.data();
    }
    ::inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(&place.storage)->sin_addr, text.data(), text.size());
    return std::string("4:") + text.data();
}

} // namespace assay::http
