// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/proposal.h"
#include "server/contract/skill.h"
#include "server/store/database.h"
#include "server/store/package_store.h"
#include "server/store/proposal_comment_table.h"
#include "server/store/proposal_table.h"

namespace assay::review {

/// The files of a proposal's two sides, as comments and marks refer to them.
struct Sides
{
    std::vector<contract::RevisionFile> newer;
    std::vector<contract::RevisionFile> older; ///< of what is current; empty when none is
};

/// Reads the sides inside a transaction.
Result<Sides> readSides(store::Connection& connection, std::string_view scope, const store::ProposalRow& proposal);

/// What a "viewed" mark of the path stands for: the file's content and mode on the newer side, or else on the older.
/// Empty when neither side has the file.
std::string viewedContent(const Sides& sides, std::string_view path);

/// Checks that comments stand on files and lines that are there. Thread-safe; calls block.
class Anchors
{
public:
    Anchors(store::Database& database, store::SkillPackageStore& packages) : m_database(database), m_packages(packages)
    {}

    /// The rows to write, each with the digest of its file; without id, author and times. `InvalidArgument` with a
    /// pointer: to the member of the one comment when `pointer` is empty, else below `pointer` and its index.
    Result<std::vector<store::CommentRow>> anchor(std::string_view scope, const store::ProposalRow& proposal,
                                                  const std::vector<contract::NewComment>& comments,
                                                  std::string_view pointer);

private:
    struct Side;
    Result<store::CommentRow> anchorOne(std::string_view scope, const contract::NewComment& comment,
                                        const std::string& pointer, Side& side);

    store::Database& m_database;
    store::SkillPackageStore& m_packages;
};

} // namespace assay::review
