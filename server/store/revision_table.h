// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/connection.h"

#include <vector>

namespace assay::store {

/// One immutable revision of a skill, and the three facts that may still be added: promoted, withdrawn, why.
struct RevisionRow
{
    std::uint64_t number = 0;     ///< 1, 2, 3 ... within the skill
    std::string id;               ///< "rev_..."
    std::optional<Digest> digest; ///< empty only when the stored value is damaged
    std::uint64_t fileCount = 0;
    std::uint64_t sizeBytes = 0;
    Timestamp createdAt;
    std::optional<Timestamp> promotedAt; ///< when it first became current; empty while proposed
    std::optional<Timestamp> withdrawnAt;
    std::string publisher;
    std::string note;
    std::string withdrawnReason;
    std::string network;
    std::string allowedTools;
    std::string inputSchema; ///< a path in the package; empty when the frontmatter names none
    std::string outputSchema;
    bool requiresExecution = false;
    std::string lints;   ///< JSON of the registry's own form
    std::string ignored; ///< likewise
    std::string description;
    std::string files; ///< likewise; filled only when asked for
    /// Likewise: what the revision can do. Empty for a row that is older than this column. Written by `insert`, read by
    /// `capabilities`.
    std::string capabilities;
};

/// Whether a read fills `RevisionRow::files`, the one large column.
enum class WithFiles : std::uint8_t { No, Yes };

/// The SQL of the table `revisions`, one exact scope at a time. Confined to its connection.
class RevisionTable
{
public:
    explicit RevisionTable(Connection& connection) : m_connection(connection) {}

    Result<void> insert(std::string_view fingerprint, std::string_view skill, const RevisionRow& row);
    Result<std::optional<RevisionRow>> find(std::string_view fingerprint, std::string_view skill, std::string_view id,
                                            WithFiles files);
    Result<std::optional<RevisionRow>> findNumber(std::string_view fingerprint, std::string_view skill,
                                                  std::uint64_t number, WithFiles files);
    /// Newest first, those below `beforeNumber` (0: from the newest), at most `limit`.
    Result<std::vector<RevisionRow>> list(std::string_view fingerprint, std::string_view skill,
                                          std::uint64_t beforeNumber, std::uint32_t limit);
    /// Keeps the first time it was promoted.
    Result<void> markPromoted(std::string_view fingerprint, std::string_view skill, std::string_view id, Timestamp now);
    Result<void> markWithdrawn(std::string_view fingerprint, std::string_view skill, std::string_view id, Timestamp now,
                               std::string_view reason);

    /// The stored form, empty when it was never written; no value for a missing revision.
    Result<std::optional<std::string>> capabilities(std::string_view fingerprint, std::string_view skill,
                                                    std::string_view id);
    Result<void> saveCapabilities(std::string_view fingerprint, std::string_view skill, std::string_view id,
                                  std::string_view capabilities);

private:
    Connection& m_connection;
};

} // namespace assay::store
