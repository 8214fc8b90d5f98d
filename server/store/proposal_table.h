// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/connection.h"

#include <vector>

namespace assay::store {

/// A proposal to make one revision current. `approvals` ... `unresolved` are counts of the other tables' rows, kept
/// here so that a list reads one row each.
struct ProposalRow
{
    std::string id; ///< "prop_..."
    std::string skill;
    std::string revision;
    std::uint64_t number = 0;
    Digest digest;
    std::string publisher;
    std::string baseRevision; ///< what is current (or was, when the proposal closed); empty for none
    std::uint64_t baseNumber = 0;
    std::optional<Digest> baseDigest;
    std::string state; ///< "open", "promoted", "superseded" or "withdrawn"
    std::uint64_t version = 1;
    std::uint64_t approvals = 0;
    std::uint64_t changeRequests = 0;
    std::uint64_t comments = 0;
    std::uint64_t unresolved = 0;
    Timestamp createdAt;
    Timestamp updatedAt;
    std::optional<Timestamp> closedAt;
    std::string closedBy;
    std::string reason;
    std::string supersededBy; ///< a proposal's id, or empty
    std::string note;
    std::string description;
};

struct ProposalQuery
{
    std::string state; ///< empty members do not filter; "approved" is an open one that has what `isApproved` asks
    std::string skill;
    std::string publisher;
    std::uint64_t requiredApprovals = 1;
    std::string beforeId; ///< keyset: only ids below; empty for the newest page
    std::uint32_t limit = 50;
};

/// Open, with enough approvals and nobody who asks for changes.
bool isApproved(const ProposalRow& row, std::uint64_t requiredApprovals);

/// The SQL of the table `proposals`, one exact scope at a time. Confined to its connection.
class ProposalTable
{
public:
    explicit ProposalTable(Connection& connection) : m_connection(connection) {}

    Result<void> insert(std::string_view fingerprint, const ProposalRow& row);
    /// Replaces what may change.
    Result<void> update(std::string_view fingerprint, const ProposalRow& row);
    Result<std::optional<ProposalRow>> find(std::string_view fingerprint, std::string_view id);
    /// The skill's open one; there is at most one.
    Result<std::optional<ProposalRow>> openOf(std::string_view fingerprint, std::string_view skill);
    /// Newest first; looks at `kMaxScanned` rows at most: `more` then says where to go on, also when `rows` is short.
    struct Listed
    {
        std::vector<ProposalRow> rows;
        std::optional<std::string> more;
    };
    Result<Listed> list(std::string_view fingerprint, const ProposalQuery& query);

    static constexpr std::uint32_t kMaxScanned = 20'000;

private:
    Connection& m_connection;
};

} // namespace assay::store
