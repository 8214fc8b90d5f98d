// SPDX-License-Identifier: Apache-2.0
#include "server/runs/execution_session.h"

#include "server/core/base64.h"
#include "server/core/digest.h"
#include "server/core/file_io.h"
#include "server/core/json.h"
#include "server/core/random.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>

namespace assay::runs {

namespace {

constexpr std::string_view kTag = "assay-session-v1\n";
constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kNonceBytes = 16;
constexpr std::size_t kFields = 9;
constexpr std::size_t kMaxKeyFileBytes = 64 * 1024;

std::unexpected<Error> invalid()
{
    return refuse("session_invalid", "the execution session is not one that this server sealed; nothing was executed");
}

void append(std::string& out, std::string_view field)
{
    const auto size = static_cast<std::uint16_t>(field.size());
    out.push_back(static_cast<char>(size >> 8));
    out.push_back(static_cast<char>(size & 0xff));
    out.append(field);
}

std::string numberOf(Timestamp time) { return std::to_string(time.time_since_epoch().count()); }

/// Exactly `kFields` fields and nothing after them.
Result<std::vector<std::string>> fieldsOf(std::string_view bytes)
{
    std::vector<std::string> out;
    while (out.size() < kFields) {
        if (bytes.size() < 2)
            return invalid();
        const auto size =
            static_cast<std::size_t>(static_cast<unsigned char>(bytes[0])) << 8 | static_cast<unsigned char>(bytes[1]);
        bytes.remove_prefix(2);
        if (bytes.size() < size)
            return invalid();
        out.emplace_back(bytes.substr(0, size));
        bytes.remove_prefix(size);
    }
    return bytes.empty() ? Result<std::vector<std::string>>(std::move(out)) : invalid();
}

std::optional<auth::Surface> surfaceNamed(std::string_view name)
{
    using enum auth::Surface;
    for (const auto surface : {Api, Cli, Window, Agent, Handshake, Local, Server})
        if (auth::nameOf(surface) == name)
            return surface;
    return std::nullopt;
}

Result<void> checkMode(const std::filesystem::path& file)
{
    struct stat found{};
    if (::lstat(file.c_str(), &found) != 0)
        return failErrno("stat " + file.string(), errno);
    if (!S_ISREG(found.st_mode) || (found.st_mode & 0077) != 0)
        return fail(ErrorCode::Unavailable,
                    "the file of session keys is open to other users; remove it, the server makes a new one",
                    file.string());
    return {};
}

} // namespace

ExecutionSession sessionOf(const auth::Identity& by, std::string run)
{
    return {by.scopeFingerprint, by.principal, by.tokenId, by.surface, std::move(run)};
}

auth::Identity identityOf(const ExecutionSession& session)
{
    return {session.scopeFingerprint, session.principal, session.tokenId, {}, session.surface};
}

Result<std::unique_ptr<SessionSealer>> SessionSealer::open(std::filesystem::path keyFile, const Clock& clock)
{
    std::unique_ptr<SessionSealer> out(new SessionSealer(std::move(keyFile), clock));
    const std::lock_guard lock(out->m_mutex);
    if (auto loaded = out->load(); !loaded)
        return forward(loaded);
    if (auto key = out->newest(clock.now()); !key)
        return forward(key);
    return out;
}

Result<void> SessionSealer::load()
{
    std::error_code fault;
    if (m_keyFile.empty() || !std::filesystem::exists(m_keyFile, fault))
        return {};
    if (auto mode = checkMode(m_keyFile); !mode)
        return mode;
    auto text = readFile(m_keyFile, kMaxKeyFileBytes);
    if (!text)
        return forward(text);
    const auto parsed = parseJson(*text);
    const auto* keys = parsed ? parsed->if_array() : nullptr;
    for (const auto& each : keys ? *keys : json::array()) {
        const auto* key = each.if_object();
        const auto* made = key ? key->if_contains("made_ms") : nullptr;
        const auto* id = key ? key->if_contains("id") : nullptr;
        const auto* secret = key ? key->if_contains("secret") : nullptr;
        const auto bytes = secret && secret->is_string() ? fromBase64(secret->as_string()) : Result<std::string>("");
        // A damaged key only ends what it sealed; the next one is made below.
        if (id && id->is_string() && made && made->is_int64() && bytes && bytes->size() == kSecretBytes)
            m_keys.push_back(
                {std::string(id->as_string()), Timestamp(std::chrono::milliseconds(made->as_int64())), *bytes});
    }
    return {};
}

Result<void> SessionSealer::rotate(Timestamp now)
{
    m_keys.push_front({toHex(randomBytes(8)), now, randomBytes(kSecretBytes)});
    // The one that it replaces may have sealed until this moment.
    while (m_keys.size() > 2 && m_keys[m_keys.size() - 2].made + kLifetime < now)
        m_keys.pop_back();
    if (m_keyFile.empty())
        return {};
    json::array keys;
    for (const Key& key : m_keys)
        keys.push_back(json::object{
            {"id", key.id}, {"made_ms", key.made.time_since_epoch().count()}, {"secret", toBase64(key.secret)}});
    return replaceFileDurably(m_keyFile, json::serialize(keys), 0600);
}

Result<SessionSealer::Key> SessionSealer::newest(Timestamp now)
{
    const bool isFresh = !m_keys.empty() && m_keys.front().made <= now && now - m_keys.front().made < kKeyAge;
    if (!isFresh)
        if (auto rotated = rotate(now); !rotated)
            return forward(rotated);
    return m_keys.front();
}

Result<std::string> SessionSealer::seal(const ExecutionSession& session)
{
    if (session.scopeFingerprint.empty() || session.principal.empty() || session.run.empty())
        return refuse("session_invalid", "nothing is executed for a caller without scope, principal and run");
    const Timestamp now = m_clock.now();
    auto key = [&] {
        const std::lock_guard lock(m_mutex);
        return newest(now);
    }();
    if (!key)
        return forward(key);
    std::string out;
    for (const std::string& field :
         {key->id, numberOf(now), numberOf(now + kLifetime), randomBytes(kNonceBytes), session.scopeFingerprint,
          session.principal, session.tokenId, std::string(auth::nameOf(session.surface)), session.run})
        append(out, field);
    out += hmacSha256(key->secret, std::string(kTag) + out).bytes();
    out = toBase64Url(out);
    return out.size() <= kMaxCarrierBytes ? Result<std::string>(std::move(out)) : invalid();
}

Result<ExecutionSession> SessionSealer::open(std::string_view carrier)
{
    if (carrier.size() > kMaxCarrierBytes)
        return invalid();
    const auto bytes = fromBase64Url(carrier);
    if (!bytes || bytes->size() < Digest::kBytes)
        return invalid();
    const std::string_view signedPart(bytes->data(), bytes->size() - Digest::kBytes);
    const auto fields = fieldsOf(signedPart);
    if (!fields)
        return std::unexpected(fields.error());
    std::string secret;
    {
        const std::lock_guard lock(m_mutex);
        const auto key = std::ranges::find(m_keys, (*fields)[0], &Key::id);
        if (key == m_keys.end())
            return invalid();
        secret = key->secret;
    }
    const Digest expected = hmacSha256(secret, std::string(kTag) + std::string(signedPart));
    if (!equalInConstantTime(expected.bytes(), std::string_view(*bytes).substr(signedPart.size())))
        return invalid();
    // From here on the fields are what `seal` wrote.
    const Timestamp now = m_clock.now();
    const Timestamp issued(std::chrono::milliseconds(std::stoll((*fields)[1])));
    if (std::stoll((*fields)[2]) <= now.time_since_epoch().count() || issued > now + std::chrono::minutes(5))
        return refuse("session_expired", "the execution session has expired; nothing was executed. Ask again");
    const auto surface = surfaceNamed((*fields)[7]);
    if (!surface)
        return invalid();
    return ExecutionSession{(*fields)[4], (*fields)[5], (*fields)[6], *surface, (*fields)[8]};
}

} // namespace assay::runs
