// SPDX-License-Identifier: Apache-2.0
#include "server/store/proposal_comment_table.h"

namespace assay::store {

namespace {

#define ASSAY_COMMENT_COLUMNS                                                                                          \
    "id, author, draft, review, path, side, line, file_sha256, in_reply_to, created_at, updated_at, resolved_at,"      \
    " resolved_by, text"

CommentRow readRow(const Statement& row)
{
    CommentRow out;
    out.id = row.text(0);
    out.author = row.text(1);
    out.draft = row.integer(2) != 0;
    out.review = row.text(3);
    out.path = row.text(4);
    out.side = row.text(5);
    out.line = row.optionalInteger(6);
    out.fileSha256 = row.text(7);
    out.inReplyTo = row.text(8);
    out.createdAt = row.timestamp(9);
    out.updatedAt = row.timestamp(10);
    out.resolvedAt = row.optionalTimestamp(11);
    out.resolvedBy = row.text(12);
    out.text = row.text(13);
    return out;
}

Result<std::vector<CommentRow>> readAll(Statement& query)
{
    std::vector<CommentRow> out;
    for (;;) {
        const auto found = query.step();
        if (!found)
            return std::unexpected(found.error());
        if (!*found)
            return out;
        out.push_back(readRow(query));
    }
}

} // namespace

Result<void> ProposalCommentTable::insert(std::string_view fingerprint, std::string_view proposal,
                                          const CommentRow& row)
{
    auto query = m_connection.prepare("INSERT INTO proposal_comments(fingerprint, proposal, " ASSAY_COMMENT_COLUMNS
                                      ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(proposal).bind(row.id).bind(row.author).bind(std::int64_t{row.draft});
    query->bind(row.review).bind(row.path).bind(row.side).bind(row.line).bind(row.fileSha256).bind(row.inReplyTo);
    query->bind(row.createdAt).bind(row.updatedAt).bind(row.resolvedAt).bind(row.resolvedBy).bind(row.text);
    return query->run();
}

Result<void> ProposalCommentTable::update(std::string_view fingerprint, std::string_view proposal,
                                          const CommentRow& row)
{
    auto query = m_connection.prepare(
        "UPDATE proposal_comments SET draft = ?, review = ?, created_at = ?, updated_at = ?, resolved_at = ?,"
        " resolved_by = ?, text = ? WHERE fingerprint = ? AND proposal = ? AND id = ?");
    if (!query)
        return forward(query);
    query->bind(std::int64_t{row.draft}).bind(row.review).bind(row.createdAt).bind(row.updatedAt);
    query->bind(row.resolvedAt).bind(row.resolvedBy).bind(row.text);
    return query->bind(fingerprint).bind(proposal).bind(row.id).run();
}

Result<void> ProposalCommentTable::remove(std::string_view fingerprint, std::string_view proposal, std::string_view id)
{
    auto query =
        m_connection.prepare("DELETE FROM proposal_comments WHERE fingerprint = ? AND proposal = ? AND id = ?");
    if (!query)
        return forward(query);
    return query->bind(fingerprint).bind(proposal).bind(id).run();
}

Result<std::optional<CommentRow>> ProposalCommentTable::find(std::string_view fingerprint, std::string_view proposal,
                                                             std::string_view id)
{
    auto query = m_connection.prepare("SELECT " ASSAY_COMMENT_COLUMNS
                                      " FROM proposal_comments WHERE fingerprint = ? AND proposal = ? AND id = ?");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(proposal).bind(id).step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(readRow(*query)) : std::nullopt;
}

Result<std::vector<CommentRow>> ProposalCommentTable::list(std::string_view fingerprint, std::string_view proposal,
                                                           std::string_view reader, std::string_view afterId,
                                                           std::uint32_t limit)
{
    auto query = m_connection.prepare("SELECT " ASSAY_COMMENT_COLUMNS
                                      " FROM proposal_comments WHERE fingerprint = ? AND proposal = ? AND id > ?"
                                      " AND (draft = 0 OR author = ?) ORDER BY id LIMIT ?");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(proposal).bind(afterId).bind(reader).bind(std::int64_t{limit});
    return readAll(*query);
}

Result<std::vector<CommentRow>> ProposalCommentTable::drafts(std::string_view fingerprint, std::string_view proposal,
                                                             std::string_view author)
{
    auto query = m_connection.prepare("SELECT " ASSAY_COMMENT_COLUMNS
                                      " FROM proposal_comments WHERE fingerprint = ? AND proposal = ?"
                                      " AND draft = 1 AND author = ? ORDER BY id");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(proposal).bind(author);
    return readAll(*query);
}

Result<ProposalCommentTable::Counts> ProposalCommentTable::counts(std::string_view fingerprint,
                                                                  std::string_view proposal)
{
    auto query = m_connection.prepare("SELECT count(*), coalesce(sum(in_reply_to = '' AND path <> '' AND resolved_at"
                                      " IS NULL), 0) FROM proposal_comments WHERE fingerprint = ? AND proposal = ?"
                                      " AND draft = 0");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(proposal).step();
    if (!found)
        return std::unexpected(found.error());
    return Counts{static_cast<std::uint64_t>(query->integer(0)), static_cast<std::uint64_t>(query->integer(1))};
}

} // namespace assay::store
