// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/page.h"
#include "server/core/clock.h"
#include "server/core/error.h"
#include "server/core/json.h"

#include <cstdint>
#include <optional>
#include <string>

namespace assay::contract {

/// The ten keys of a row's metadata (docs/ledger.md); empty and absent are not known.
struct AuditMetadata
{
    std::string surface;
    std::string cwd;
    std::string reason;
    std::optional<std::int64_t> exitCode;
    std::string termination;
    std::string baseDigest;
    std::string egressMode;
    std::optional<std::int64_t> egressTotalBytes;
    std::optional<std::int64_t> wallMs;
    std::optional<std::int64_t> workspaceKib;

    bool operator==(const AuditMetadata&) const = default;
};

/// One row of the audit ledger, with all that its hash is made of.
struct AuditEntry
{
    std::string scopeFingerprint; ///< empty: the server's own chain
    std::int64_t seq = 0;
    Timestamp at;
    std::string actor;
    std::string actorType;
    std::string authSource;
    std::string resourceType;
    std::string resource;
    std::string operation;
    std::string decision;
    std::string run;
    std::optional<std::int64_t> reservation;
    std::int64_t occurrences = 1;
    AuditMetadata metadata;
    std::string previous; ///< "sha256:..."
    std::string hash;
};

/// A chain's newest row of some moment, signed.
struct AuditAnchor
{
    std::string scopeFingerprint;
    std::int64_t seq = 0;
    Timestamp at;
    std::string rowHash;
    std::string keyId;
    std::string signature; ///< Ed25519, base64
};

/// What the first line of an export says: what follows is a whole chain, or what of it the filter left.
struct AuditExport
{
    std::string format; ///< "assay-ledger-v1"
    std::string scopeFingerprint;
    bool complete = false;
    std::string keyId;
    std::string publicKey; ///< Ed25519, base64
};

struct AuditFault
{
    std::string scopeFingerprint;
    std::int64_t seq = 0; ///< the first bad row, or where one is missing; of a fault among anchors the anchor's row
    /// "changed", "missing", "broken_link", "rewritten", "anchor_mismatch", "anchor_forged", "anchor_missing"
    std::string reason;
};

struct AuditVerdict
{
    bool valid = true;
    std::uint64_t checked = 0; ///< rows
    std::uint64_t anchors = 0;
    std::optional<AuditFault> firstBad;
    std::string keyId;
    std::string publicKey;
};

/// What a list or an export is asked for. Empty members do not filter.
struct AuditFilter
{
    std::string decision;
    std::string operation;
    std::string actor;
    std::string run;
    std::optional<Timestamp> since; ///< at or after
    std::optional<Timestamp> until; ///< before

    bool isEmpty() const
    {
        return decision.empty() && operation.empty() && actor.empty() && run.empty() && !since && !until;
    }
};

json::object toJson(const AuditEntry& entry);
json::object toJson(const AuditAnchor& anchor);
json::object toJson(const AuditExport& header);
json::object toJson(const AuditVerdict& verdict);

// The lines of an export, read back; strict. `InvalidArgument` otherwise.
Result<AuditEntry> readAuditEntry(const json::value& line);
Result<AuditAnchor> readAuditAnchor(const json::value& line);
Result<AuditExport> readAuditExport(const json::value& line);

} // namespace assay::contract
