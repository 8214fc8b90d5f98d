// SPDX-License-Identifier: Apache-2.0
#include "server/store/proposal_review_table.h"

#include <algorithm>

namespace assay::store {

namespace {

ReviewRow readRow(const Statement& row)
{
    ReviewRow out;
    out.id = row.text(0);
    out.author = row.text(1);
    out.verdict = row.text(2);
    out.digest = Digest::fromBytes(row.blob(3)).value_or(Digest());
    out.comments = static_cast<std::uint64_t>(row.integer(4));
    out.createdAt = row.timestamp(5);
    out.withdrawnAt = row.optionalTimestamp(6);
    return out;
}

} // namespace

Result<void> ProposalReviewTable::insert(std::string_view fingerprint, std::string_view proposal, const ReviewRow& row)
{
    auto query = m_connection.prepare("INSERT INTO proposal_reviews(fingerprint, proposal, id, author, verdict, digest,"
                                      " comments, created_at, withdrawn_at) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(proposal).bind(row.id).bind(row.author).bind(row.verdict);
    query->bindBlob(row.digest.bytes()).bind(static_cast<std::int64_t>(row.comments)).bind(row.createdAt);
    return query->bind(row.withdrawnAt).run();
}

Result<std::vector<ReviewRow>> ProposalReviewTable::list(std::string_view fingerprint, std::string_view proposal,
                                                         std::uint32_t limit)
{
    auto query = m_connection.prepare("SELECT id, author, verdict, digest, comments, created_at, withdrawn_at"
                                      " FROM proposal_reviews WHERE fingerprint = ? AND proposal = ?"
                                      " ORDER BY id LIMIT ?");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(proposal).bind(std::int64_t{limit});
    std::vector<ReviewRow> out;
    for (;;) {
        const auto found = query->step();
        if (!found)
            return std::unexpected(found.error());
        if (!*found)
            return out;
        out.push_back(readRow(*query));
    }
}

Result<std::vector<ReviewRow>> ProposalReviewTable::standing(std::string_view fingerprint, std::string_view proposal)
{
    constexpr std::uint32_t kAll = 1'000'000;
    auto rows = list(fingerprint, proposal, kAll);
    if (!rows)
        return rows;
    std::vector<ReviewRow> out;
    for (ReviewRow& row : *rows) {
        if (row.verdict == "comment" || row.withdrawnAt)
            continue;
        const auto earlier = std::ranges::find(out, row.author, &ReviewRow::author);
        if (earlier == out.end())
            out.push_back(std::move(row));
        else
            *earlier = std::move(row);
    }
    return out;
}

Result<std::int64_t> ProposalReviewTable::withdraw(std::string_view fingerprint, std::string_view proposal,
                                                   std::string_view author, Timestamp now)
{
    auto query = m_connection.prepare("UPDATE proposal_reviews SET withdrawn_at = ? WHERE fingerprint = ? AND"
                                      " proposal = ? AND author = ? AND verdict <> 'comment' AND withdrawn_at IS NULL");
    if (!query)
        return forward(query);
    if (auto done = query->bind(now).bind(fingerprint).bind(proposal).bind(author).run(); !done)
        return forward(done);
    return m_connection.changes();
}

} // namespace assay::store
