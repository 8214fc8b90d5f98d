// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::auth {

/// What a token or a trusted ingress lets its holder do (api.md, "Conventions"). A bit each.
enum class Role : std::uint8_t { Viewer = 1, Builder = 2, Reviewer = 4, Runner = 8, Operator = 16 };

/// A set of roles.
class Roles
{
public:
    constexpr Roles() = default;
    constexpr Roles(Role role) : m_bits(static_cast<std::uint8_t>(role)) {}
    constexpr explicit Roles(std::uint8_t bits) : m_bits(bits) {}
    constexpr Roles operator|(Roles other) const { return Roles(static_cast<std::uint8_t>(m_bits | other.m_bits)); }
    constexpr bool intersects(Roles other) const { return (m_bits & other.m_bits) != 0; }
    constexpr bool contains(Role role) const { return (m_bits & static_cast<std::uint8_t>(role)) != 0; }
    constexpr std::uint8_t bits() const { return m_bits; }
    constexpr bool operator==(const Roles&) const = default;

private:
    std::uint8_t m_bits = 0;
};

/// By which way a caller came, from a fixed list (docs/ledger.md). `Cli`, `Window` and `Agent` are what a client says
/// of itself; nothing is granted for it.
enum class Surface : std::uint8_t { Api, Cli, Window, Agent, Handshake, Local, Server };

constexpr std::string_view nameOf(Surface surface)
{
    constexpr std::string_view kNames[] = {"api", "cli", "window", "agent", "handshake", "local", "server"};
    return kNames[static_cast<std::size_t>(surface)];
}

/// Who acts, in which scope: made at one place (`Authenticator`), from a token or a trusted ingress, never from a body
/// or a query. The raw scope values end there; everything behind it sees the fingerprint only.
struct Identity
{
    std::string scopeFingerprint; ///< "sc_" and 32 hex digits
    std::string principal;        ///< who acts; at most 256 bytes
    std::string tokenId;          ///< empty for trusted ingress
    Roles roles;
    Surface surface = Surface::Api;
};

/// Whoever may enter the data directory and works there with `assayctl`.
inline Identity localAdministration() { return {{}, "local", {}, Role::Operator, Surface::Local}; }

} // namespace assay::auth
