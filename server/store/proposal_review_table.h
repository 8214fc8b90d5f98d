// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/connection.h"

#include <vector>

namespace assay::store {

/// One published batch of a proposal: somebody's verdict on one digest.
struct ReviewRow
{
    std::string id; ///< "rvw_..."
    std::string author;
    std::string verdict; ///< "approve", "request_changes" or "comment"
    Digest digest;
    std::uint64_t comments = 0; ///< published with it
    Timestamp createdAt;
    std::optional<Timestamp> withdrawnAt;
};

/// The SQL of the table `proposal_reviews`, one exact scope and proposal at a time. Confined to its connection.
class ProposalReviewTable
{
public:
    explicit ProposalReviewTable(Connection& connection) : m_connection(connection) {}

    Result<void> insert(std::string_view fingerprint, std::string_view proposal, const ReviewRow& row);
    /// Oldest first, withdrawn ones too, at most `limit`.
    Result<std::vector<ReviewRow>> list(std::string_view fingerprint, std::string_view proposal, std::uint32_t limit);
    /// The verdict that stands of each person: the newest approve or request_changes that was not withdrawn.
    Result<std::vector<ReviewRow>> standing(std::string_view fingerprint, std::string_view proposal);
    /// Withdraws every verdict of the author; how many stood.
    Result<std::int64_t> withdraw(std::string_view fingerprint, std::string_view proposal, std::string_view author,
                                  Timestamp now);

private:
    Connection& m_connection;
};

} // namespace assay::store
