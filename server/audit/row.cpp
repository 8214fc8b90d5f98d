// SPDX-License-Identifier: Apache-2.0
#include "server/audit/row.h"

#include "server/core/ids.h"
#include "server/core/text.h"

#include <algorithm>
#include <array>
#include <limits>

namespace assay::audit {

namespace {

constexpr std::string_view kRowTag = "assay-ledger-v1\n";
constexpr std::string_view kGenesisTag = "assay-ledger-genesis-v1\n";
constexpr std::string_view kOther = "other";
constexpr std::string_view kTokenPrefix = "assay_"; // auth::newTokenSecret
constexpr std::size_t kMaxActorBytes = 256;
constexpr std::size_t kMaxCwdBytes = 256;
constexpr std::size_t kMaxWordBytes = 48;
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxRouteBytes = 160;
constexpr std::array kSurfaces{auth::Surface::Api,   auth::Surface::Cli,       auth::Surface::Window,
                               auth::Surface::Agent, auth::Surface::Handshake, auth::Surface::Local,
                               auth::Surface::Server};
constexpr std::array<std::string_view, 3> kEgressModes{"none", "default_internet", "allowlist"};

bool isLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

template <typename Is> bool consistsOf(std::string_view text, std::size_t maxBytes, Is is)
{
    return !text.empty() && text.size() <= maxBytes && std::ranges::all_of(text, is);
}

bool isWord(std::string_view text)
{
    return consistsOf(text, kMaxWordBytes, [](char c) { return isLowerOrDigit(c) || c == '_'; }) &&
           !text.contains(kTokenPrefix);
}

bool isSlug(std::string_view text)
{
    return consistsOf(text, kMaxNameBytes, [](char c) { return isLowerOrDigit(c) || c == '-'; });
}

bool isFingerprint(std::string_view text)
{
    constexpr std::size_t kDigits = 32;
    return text.starts_with("sc_") && text.size() == kDigits + 3 &&
           std::ranges::all_of(text.substr(3), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool isClean(std::string_view text)
{
    return isUtf8(text) && !text.contains(kTokenPrefix) &&
           std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool isRevision(std::string_view text)
{
    const auto at = text.find('@');
    return at != std::string_view::npos && isSlug(text.substr(0, at)) && isId(text.substr(at + 1), "rev_");
}

bool isRoute(std::string_view text)
{
    const auto path = text.find(":/");
    return path != std::string_view::npos &&
           consistsOf(text.substr(0, path), kMaxWordBytes, [](char c) { return c >= 'A' && c <= 'Z'; }) &&
           consistsOf(text.substr(path + 1), kMaxRouteBytes,
                      [](char c) { return isLowerOrDigit(c) || std::string_view("/{}._-").contains(c); }) &&
           !text.contains(kTokenPrefix);
}

bool hasForm(ResourceType type, std::string_view text)
{
    switch (type) {
    case ResourceType::Skill:
    case ResourceType::Agent:
    case ResourceType::Driver:
        return isSlug(text);
    case ResourceType::Revision:
        return isRevision(text);
    case ResourceType::Token:
        return isId(text, "tok_");
    case ResourceType::Run:
        return isId(text, "run_");
    case ResourceType::Command:
        return isId(text, "cmd_");
    case ResourceType::Proposal:
        return isId(text, "prop_");
    case ResourceType::Content:
        return Digest::parse(text).has_value();
    case ResourceType::Route:
        return isRoute(text);
    case ResourceType::Server:
        return false;
    }
    return false;
}

bool isBelow(std::string_view path, std::string_view top)
{
    return path == top || (path.starts_with(top) && path.substr(top.size()).starts_with('/'));
}

bool isCwd(std::string_view path)
{
    const bool isInside = isBelow(path, "/workspace") || isBelow(path, "/tmp") || isBelow(path, "/skills");
    return isInside && path.size() <= kMaxCwdBytes && isClean(path) && !(std::string(path) + "/").contains("/../");
}

bool isBase(std::string_view text) { return text == "host" || Digest::parse(text).has_value(); }

/// Empty stays empty.
std::string kept(std::string_view text, bool hasItsForm)
{
    return text.empty() || hasItsForm ? std::string(text) : std::string(kOther);
}

Metadata metadataOf(const Metadata& given)
{
    Metadata out = given;
    out.surface =
        kept(given.surface, std::ranges::contains(kSurfaces, std::string_view(given.surface),
                                                  [](auth::Surface surface) { return auth::nameOf(surface); }));
    out.cwd = kept(given.cwd, isCwd(given.cwd));
    out.reason = kept(given.reason, isWord(given.reason));
    out.termination = kept(given.termination, isWord(given.termination));
    out.baseDigest = kept(given.baseDigest, isBase(given.baseDigest));
    out.egressMode = kept(given.egressMode, std::ranges::contains(kEgressModes, given.egressMode));
    return out;
}

std::string numberText(std::optional<std::int64_t> number) { return number ? std::to_string(*number) : std::string(); }

} // namespace

Result<Row> rowOf(const Record& record)
{
    if (!record.scopeFingerprint.empty() && !isFingerprint(record.scopeFingerprint))
        return fail(ErrorCode::Internal, "the audit ledger takes scopes by their fingerprint only");
    Row out;
    out.fingerprint = record.scopeFingerprint;
    out.actor = kept(record.actor, record.actor.size() <= kMaxActorBytes && isClean(record.actor));
    out.actorType = nameOf(record.actorType);
    out.authSource = nameOf(record.authSource);
    out.resourceType = nameOf(record.resourceType);
    out.resource = kept(record.resource, hasForm(record.resourceType, record.resource));
    out.operation = nameOf(record.operation);
    out.decision = nameOf(record.decision);
    out.run = isId(record.run, "run_") ? record.run : std::string();
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    out.occurrences = static_cast<std::int64_t>(std::clamp<std::uint64_t>(record.occurrences, 1, kMost));
    out.metadata = metadataOf(record.metadata);
    return out;
}

void appendField(std::string& out, std::string_view bytes)
{
    const auto size = static_cast<std::uint32_t>(bytes.size());
    for (int shift = 24; shift >= 0; shift -= 8)
        out.push_back(static_cast<char>((size >> shift) & 0xffU));
    out.append(bytes);
}

std::string encodeRow(const Row& row)
{
    std::string out;
    out.reserve(512);
    appendField(out, row.fingerprint);
    appendField(out, std::to_string(row.seq));
    appendField(out, std::to_string(row.at.time_since_epoch().count()));
    for (const std::string* text : {&row.actor, &row.actorType, &row.authSource, &row.resourceType, &row.resource,
                                    &row.operation, &row.decision, &row.run})
        appendField(out, *text);
    appendField(out, numberText(row.reservation));
    appendField(out, std::to_string(row.occurrences));
    const Metadata& more = row.metadata;
    appendField(out, more.surface);
    appendField(out, more.cwd);
    appendField(out, more.reason);
    appendField(out, numberText(more.exitCode));
    appendField(out, more.termination);
    appendField(out, more.baseDigest);
    appendField(out, more.egressMode);
    appendField(out, numberText(more.egressTotalBytes));
    appendField(out, numberText(more.wallMs));
    appendField(out, numberText(more.workspaceKib));
    return out;
}

Digest hashOf(const Row& row)
{
    return Sha256().update(kRowTag).update(row.previous.bytes()).update(encodeRow(row)).finish();
}

Digest genesisOf(std::string_view fingerprint) { return Sha256().update(kGenesisTag).update(fingerprint).finish(); }

} // namespace assay::audit
