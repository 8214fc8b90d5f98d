// SPDX-License-Identifier: Apache-2.0
#include "app/cli/settings.h"

#include "server/core/file_io.h"

#include <array>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>

namespace assay::cli {

namespace {

using Environment = std::function<const char*(const char*)>;
using Profile = std::map<std::string, std::string, std::less<>>;

constexpr std::uint64_t kProfileBytes = 64 << 10;
constexpr std::array<std::string_view, 4> kKeys{"url", "token", "ca", "fingerprint"};

std::string variable(const Environment& environment, const char* name)
{
    const char* value = environment(name);
    return value ? value : "";
}

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view kBlanks = " \t\r";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::filesystem::path usualProfile(const Environment& environment)
{
    if (const std::string config = variable(environment, "XDG_CONFIG_HOME"); !config.empty())
        return std::filesystem::path(config) / "assay" / "profile";
    const std::string home = variable(environment, "HOME");
    return home.empty() ? std::filesystem::path() : std::filesystem::path(home) / ".config" / "assay" / "profile";
}

Result<void> checkMode(int fd, const std::filesystem::path& path)
{
    struct stat status{};
    if (::fstat(fd, &status) != 0)
        return failErrno("fstat of the profile", errno);
    if ((status.st_mode & 077) != 0)
        return fail(ErrorCode::PermissionDenied, "others may read the profile " + path.string() +
                                                     ", which may hold a token; run: chmod 600 '" + path.string() +
                                                     "'");
    if (status.st_uid != ::geteuid() && status.st_uid != 0)
        return fail(ErrorCode::PermissionDenied,
                    "the profile " + path.string() + " belongs to another user; make one of your own");
    return {};
}

Result<Profile> parseProfile(std::string_view text, const std::filesystem::path& path)
{
    Profile out;
    for (unsigned number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.starts_with('#'))
            continue;
        const std::size_t equals = line.find('=');
        const std::string key(trimmed(line.substr(0, equals)));
        if (equals == std::string_view::npos || std::ranges::find(kKeys, key) == kKeys.end() || out.contains(key))
            return fail(ErrorCode::InvalidArgument,
                        path.string() + ":" + std::to_string(number) +
                            ": write each of url, token, ca, fingerprint at most once, as KEY = VALUE");
        out[key] = trimmed(line.substr(equals + 1));
    }
    return out;
}

Result<Profile> readProfile(const SettingsFlags& flags, const Environment& environment)
{
    std::filesystem::path path = flags.profile;
    if (path.empty())
        path = variable(environment, "ASSAY_PROFILE");
    const bool named = !path.empty();
    if (!named)
        path = usualProfile(environment);
    if (path.empty())
        return Profile();
    auto fd = openFile(path, O_RDONLY);
    if (!fd && fd.error().code == ErrorCode::NotFound && !named)
        return Profile();
    if (!fd)
        return fail(fd.error().code, "the profile " + path.string() + " cannot be read");
    if (auto strict = checkMode(fd->get(), path); !strict)
        return forward(strict);
    auto text = readFile(path, kProfileBytes);
    if (!text)
        return fail(text.error().code, "the profile " + path.string() + " cannot be read, or is over 64 KiB");
    return parseProfile(*text, path);
}

Result<std::string> parseFingerprint(std::string_view text)
{
    std::string out;
    if (text.starts_with("sha256:"))
        text.remove_prefix(7);
    for (const char c : text)
        if (c != ':')
            out += static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
    if (out.size() != 64 || out.find_first_not_of("0123456789abcdef") != std::string::npos)
        return fail(ErrorCode::InvalidArgument, "a certificate's fingerprint is its SHA-256: 64 hex digits");
    return out;
}

} // namespace

Result<Settings> loadSettings(const SettingsFlags& flags, const Environment& environment)
{
    auto profile = readProfile(flags, environment);
    if (!profile)
        return forward(profile);
    const auto pick = [&](const std::string& flag, const char* name, std::string_view key) {
        const std::string fromEnvironment = variable(environment, name);
        return !flag.empty() ? flag : !fromEnvironment.empty() ? fromEnvironment : (*profile)[std::string(key)];
    };
    const std::string url = pick(flags.url, "ASSAY_URL", "url");
    auto address = ServerAddress::parse(url.empty() ? kDefaultUrl : std::string_view(url));
    if (!address)
        return forward(address);
    Settings out;
    out.address = std::move(*address);
    out.token = pick({}, "ASSAY_TOKEN", "token");
    out.tokenSource = variable(environment, "ASSAY_TOKEN").empty() ? "the profile" : "ASSAY_TOKEN";
    out.ca = pick(flags.ca, "ASSAY_CA", "ca");
    out.clearTextAllowed = variable(environment, "ASSAY_ALLOW_CLEARTEXT") == "1";
    if (const std::string text = pick(flags.fingerprint, "ASSAY_FINGERPRINT", "fingerprint"); !text.empty()) {
        auto fingerprint = parseFingerprint(text);
        if (!fingerprint)
            return forward(fingerprint);
        out.fingerprint = std::move(*fingerprint);
    }
    return out;
}

} // namespace assay::cli
