// SPDX-License-Identifier: Apache-2.0
#include "server/audit/row_entry.h"

#include "server/core/base64.h"

namespace assay::audit {

namespace {

template <typename To, typename From> To copyMetadata(const From& from)
{
    return {.surface = from.surface,
            .cwd = from.cwd,
            .reason = from.reason,
            .exitCode = from.exitCode,
            .termination = from.termination,
            .baseDigest = from.baseDigest,
            .egressMode = from.egressMode,
            .egressTotalBytes = from.egressTotalBytes,
            .wallMs = from.wallMs,
            .workspaceKib = from.workspaceKib};
}

/// The members that are the same on both sides.
template <typename To, typename From> void copyMembers(To& to, const From& from)
{
    to.seq = from.seq;
    to.at = from.at;
    to.actor = from.actor;
    to.actorType = from.actorType;
    to.authSource = from.authSource;
    to.resourceType = from.resourceType;
    to.resource = from.resource;
    to.operation = from.operation;
    to.decision = from.decision;
    to.run = from.run;
    to.reservation = from.reservation;
    to.occurrences = from.occurrences;
}

} // namespace

contract::AuditEntry entryOf(const Row& row)
{
    contract::AuditEntry out;
    copyMembers(out, row);
    out.scopeFingerprint = row.fingerprint;
    out.metadata = copyMetadata<contract::AuditMetadata>(row.metadata);
    out.previous = row.previous.text();
    out.hash = row.hash.text();
    return out;
}

Result<Row> rowOf(const contract::AuditEntry& entry)
{
    Row out;
    copyMembers(out, entry);
    out.fingerprint = entry.scopeFingerprint;
    out.metadata = copyMetadata<Metadata>(entry.metadata);
    const auto previous = Digest::parse(entry.previous);
    const auto hash = Digest::parse(entry.hash);
    if (!previous || !hash)
        return fail(ErrorCode::InvalidArgument, "row " + std::to_string(entry.seq) + " has no hash");
    out.previous = *previous;
    out.hash = *hash;
    return out;
}

contract::AuditAnchor anchorEntryOf(const Anchor& anchor)
{
    return {anchor.fingerprint, anchor.seq, anchor.at, anchor.rowHash.text(), anchor.keyId, toBase64(anchor.signature)};
}

Result<Anchor> anchorOf(const contract::AuditAnchor& entry)
{
    const auto hash = Digest::parse(entry.rowHash);
    auto signature = fromBase64(entry.signature);
    if (!hash || !signature)
        return fail(ErrorCode::InvalidArgument, "the anchor of row " + std::to_string(entry.seq) + " is not one");
    return Anchor{.fingerprint = entry.scopeFingerprint,
                  .seq = entry.seq,
                  .at = entry.at,
                  .rowHash = *hash,
                  .keyId = entry.keyId,
                  .signature = std::move(*signature)};
}

} // namespace assay::audit
