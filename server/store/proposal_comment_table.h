// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/store/connection.h"

#include <vector>

namespace assay::store {

/// One comment of a proposal: on the whole of it, on a file, or on one line of one side.
struct CommentRow
{
    std::string id; ///< "cmt_..."
    std::string author;
    bool draft = false; ///< only its author sees it
    std::string review; ///< the batch it was published with; empty for one of its own
    std::string path;
    std::string side; ///< "old" or "new" with a path
    std::optional<std::int64_t> line;
    std::string fileSha256; ///< of the file that it is about, as it was
    std::string inReplyTo;  ///< the thread's first comment
    Timestamp createdAt;
    Timestamp updatedAt;
    std::optional<Timestamp> resolvedAt;
    std::string resolvedBy;
    std::string text;
};

/// The SQL of the table `proposal_comments`, one exact scope and proposal at a time. Confined to its connection.
class ProposalCommentTable
{
public:
    explicit ProposalCommentTable(Connection& connection) : m_connection(connection) {}

    Result<void> insert(std::string_view fingerprint, std::string_view proposal, const CommentRow& row);
    /// Replaces text, draft, review, times and the resolution.
    Result<void> update(std::string_view fingerprint, std::string_view proposal, const CommentRow& row);
    Result<void> remove(std::string_view fingerprint, std::string_view proposal, std::string_view id);
    Result<std::optional<CommentRow>> find(std::string_view fingerprint, std::string_view proposal,
                                           std::string_view id);
    /// Oldest first after `afterId`: published ones, and the drafts of `reader`.
    Result<std::vector<CommentRow>> list(std::string_view fingerprint, std::string_view proposal,
                                         std::string_view reader, std::string_view afterId, std::uint32_t limit);
    /// The author's drafts, oldest first.
    Result<std::vector<CommentRow>> drafts(std::string_view fingerprint, std::string_view proposal,
                                           std::string_view author);
    struct Counts
    {
        std::uint64_t published = 0;
        std::uint64_t unresolved = 0; ///< threads that begin on a file or line and are not resolved
    };
    Result<Counts> counts(std::string_view fingerprint, std::string_view proposal);

private:
    Connection& m_connection;
};

} // namespace assay::store
