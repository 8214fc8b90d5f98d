// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/server_address.h"

#include <filesystem>
#include <functional>
#include <optional>

namespace assay::cli {

/// How the command line finds and trusts its server. Each value comes from the command line, else from the environment
/// (ASSAY_URL, ASSAY_TOKEN, ASSAY_CA, ASSAY_FINGERPRINT), else from the profile file, else the default.
struct Settings
{
    ServerAddress address;
    std::string token;             ///< a secret: never printed
    std::filesystem::path ca;      ///< a PEM file to trust instead of the system's authorities
    std::string fingerprint;       ///< SHA-256 of the server's certificate, 64 hex digits; trusts that one certificate
    std::string tokenSource;       ///< where the token came from, for messages
    bool clearTextAllowed = false; ///< ASSAY_ALLOW_CLEARTEXT=1: send the token over plain http to another machine
};

/// What was given on the command line; empty members were not.
struct SettingsFlags
{
    std::string url;
    std::string profile;
    std::string ca;
    std::string fingerprint;
};

inline constexpr std::string_view kDefaultUrl = "http://127.0.0.1:8473";

/// Reads the settings. `environment` answers a variable's value, or null. The profile is `flags.profile`,
/// ASSAY_PROFILE, or $XDG_CONFIG_HOME/assay/profile (~/.config/assay/profile); only the last may be missing. Its lines
/// are `url|token|ca|fingerprint = VALUE`, `#` begins a comment. `PermissionDenied` when others than its owner may read
/// it (its mode must be 0600 or stricter): it holds a token. `InvalidArgument` with file and line for another fault.
Result<Settings> loadSettings(const SettingsFlags& flags, const std::function<const char*(const char*)>& environment);

} // namespace assay::cli
