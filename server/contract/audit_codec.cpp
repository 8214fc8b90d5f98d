// SPDX-License-Identifier: Apache-2.0
#include "server/contract/audit.h"
#include "server/contract/json_parts.h"

#include <array>
#include <span>

namespace assay::contract {

namespace {

json::object metadataJson(const AuditMetadata& metadata)
{
    return {{"surface", textOrNull(metadata.surface)},
            {"cwd", textOrNull(metadata.cwd)},
            {"reason", textOrNull(metadata.reason)},
            {"exit_code", valueOrNull(metadata.exitCode)},
            {"termination", textOrNull(metadata.termination)},
            {"base_digest", textOrNull(metadata.baseDigest)},
            {"egress_mode", textOrNull(metadata.egressMode)},
            {"egress_total_bytes", valueOrNull(metadata.egressTotalBytes)},
            {"wall_ms", valueOrNull(metadata.wallMs)},
            {"workspace_kib", valueOrNull(metadata.workspaceKib)}};
}

json::value faultJson(const std::optional<AuditFault>& fault)
{
    if (!fault)
        return nullptr;
    return json::object{
        {"scope_fingerprint", textOrNull(fault->scopeFingerprint)}, {"seq", fault->seq}, {"reason", fault->reason}};
}

/// Reads an object of which every member must be there and be of its kind: what these writers wrote.
class Line
{
public:
    explicit Line(const json::value& value) : m_object(value.if_object()) {}

    /// `null` is the empty text.
    Line& text(std::string_view name, std::string& out)
    {
        const json::value* found = take(name);
        if (found && found->is_string())
            out = found->as_string();
        else if (!found || !found->is_null())
            m_isBad = true;
        return *this;
    }
    Line& number(std::string_view name, std::optional<std::int64_t>& out)
    {
        const json::value* found = take(name);
        if (found && found->is_int64())
            out = found->as_int64();
        else if (!found || !found->is_null())
            m_isBad = true;
        return *this;
    }
    Line& number(std::string_view name, std::int64_t& out)
    {
        std::optional<std::int64_t> value;
        number(name, value);
        m_isBad = m_isBad || !value;
        out = value.value_or(0);
        return *this;
    }
    Line& time(std::string_view name, Timestamp& out)
    {
        std::string written;
        text(name, written);
        const auto parsed = parseTimestamp(written);
        m_isBad = m_isBad || !parsed;
        out = parsed.value_or(Timestamp());
        return *this;
    }
    Line& flag(std::string_view name, bool& out)
    {
        const json::value* found = take(name);
        m_isBad = m_isBad || !found || !found->is_bool();
        out = found && found->is_bool() && found->as_bool();
        return *this;
    }
    const json::value& member(std::string_view name)
    {
        static const json::value none;
        const json::value* found = take(name);
        return found ? *found : none;
    }
    bool isWhole() const { return !m_isBad && m_object && m_taken == m_object->size(); }

private:
    const json::value* take(std::string_view name)
    {
        const json::value* found = m_object ? m_object->if_contains(name) : nullptr;
        m_taken += found != nullptr;
        return found;
    }
    const json::object* m_object;
    std::size_t m_taken = 0;
    bool m_isBad = false;
};

std::unexpected<Error> notALine(std::string_view what)
{
    return fail(ErrorCode::InvalidArgument, "this is not " + std::string(what) + " of an audit export");
}

bool readMetadata(const json::value& value, AuditMetadata& out)
{
    return Line(value)
        .text("surface", out.surface)
        .text("cwd", out.cwd)
        .text("reason", out.reason)
        .number("exit_code", out.exitCode)
        .text("termination", out.termination)
        .text("base_digest", out.baseDigest)
        .text("egress_mode", out.egressMode)
        .number("egress_total_bytes", out.egressTotalBytes)
        .number("wall_ms", out.wallMs)
        .number("workspace_kib", out.workspaceKib)
        .isWhole();
}

} // namespace

json::object toJson(const AuditEntry& entry)
{
    return {{"scope_fingerprint", textOrNull(entry.scopeFingerprint)},
            {"seq", entry.seq},
            {"at", timeText(entry.at)},
            {"actor", textOrNull(entry.actor)},
            {"actor_type", entry.actorType},
            {"auth_source", entry.authSource},
            {"resource_type", entry.resourceType},
            {"resource", textOrNull(entry.resource)},
            {"operation", entry.operation},
            {"decision", entry.decision},
            {"run", textOrNull(entry.run)},
            {"reservation", valueOrNull(entry.reservation)},
            {"occurrences", entry.occurrences},
            {"metadata", metadataJson(entry.metadata)},
            {"previous", entry.previous},
            {"hash", entry.hash}};
}

json::object toJson(const AuditAnchor& anchor)
{
    return {{"anchor", anchor.seq},      {"scope_fingerprint", textOrNull(anchor.scopeFingerprint)},
            {"at", timeText(anchor.at)}, {"row_hash", anchor.rowHash},
            {"key_id", anchor.keyId},    {"signature", anchor.signature}};
}

json::object toJson(const AuditExport& header)
{
    return {{"format", header.format},
            {"scope_fingerprint", textOrNull(header.scopeFingerprint)},
            {"complete", header.complete},
            {"key_id", header.keyId},
            {"public_key", header.publicKey}};
}

json::object toJson(const AuditVerdict& verdict)
{
    return {{"valid", verdict.valid},     {"checked", verdict.checked},
            {"anchors", verdict.anchors}, {"first_bad", faultJson(verdict.firstBad)},
            {"key_id", verdict.keyId},    {"public_key", verdict.publicKey}};
}

Result<AuditEntry> readAuditEntry(const json::value& line)
{
    AuditEntry out;
    Line in(line);
    in.text("scope_fingerprint", out.scopeFingerprint)
        .number("seq", out.seq)
        .time("at", out.at)
        .text("actor", out.actor)
        .text("actor_type", out.actorType)
        .text("auth_source", out.authSource)
        .text("resource_type", out.resourceType)
        .text("resource", out.resource)
        .text("operation", out.operation)
        .text("decision", out.decision)
        .text("run", out.run)
        .number("reservation", out.reservation)
        .number("occurrences", out.occurrences)
        .text("previous", out.previous)
        .text("hash", out.hash);
    const bool hasMetadata = readMetadata(in.member("metadata"), out.metadata);
    return in.isWhole() && hasMetadata ? Result<AuditEntry>(std::move(out)) : notALine("a row");
}

Result<AuditAnchor> readAuditAnchor(const json::value& line)
{
    AuditAnchor out;
    Line in(line);
    in.number("anchor", out.seq)
        .text("scope_fingerprint", out.scopeFingerprint)
        .time("at", out.at)
        .text("row_hash", out.rowHash)
        .text("key_id", out.keyId)
        .text("signature", out.signature);
    return in.isWhole() ? Result<AuditAnchor>(std::move(out)) : notALine("an anchor");
}

Result<AuditExport> readAuditExport(const json::value& line)
{
    AuditExport out;
    Line in(line);
    in.text("format", out.format)
        .text("scope_fingerprint", out.scopeFingerprint)
        .flag("complete", out.complete)
        .text("key_id", out.keyId)
        .text("public_key", out.publicKey);
    return in.isWhole() ? Result<AuditExport>(std::move(out)) : notALine("the first line");
}

} // namespace assay::contract
