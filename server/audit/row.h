// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/record.h"
#include "server/core/clock.h"
#include "server/core/digest.h"

namespace assay::audit {

/// A row as it stands in the ledger: texts instead of enumerators, so that one which was changed by hand can still be
/// read and judged. Rows of one scope are numbered 1, 2, 3 ... and chained by their hashes.
struct Row
{
    std::string fingerprint; ///< the chain: a scope's fingerprint, or empty for the server's own
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
    std::optional<std::int64_t> reservation; ///< the row whose command this one ends
    std::int64_t occurrences = 1;
    Metadata metadata;
    Digest previous;
    Digest hash;

    bool operator==(const Row&) const = default;
};

/// A record in the ledger's forms: bounded, and "other" for each text that does not have its form. `Internal` when the
/// scope is not a fingerprint. `seq`, `at` and hashes are not set.
Result<Row> rowOf(const Record& record);

/// What of a row is hashed (docs/ledger.md, "A row's bytes"). Pure.
std::string encodeRow(const Row& row);

/// SHA-256 over the domain tag, `row.previous` and the row's bytes.
Digest hashOf(const Row& row);

/// What the first row of a chain has as `previous`.
Digest genesisOf(std::string_view fingerprint);

/// Appends a field as u32 big-endian length and bytes: what is hashed and signed is made of such fields.
void appendField(std::string& out, std::string_view bytes);

} // namespace assay::audit
