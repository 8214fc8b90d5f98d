// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/ledger.h"
#include "server/auth/identity.h"
#include "server/contract/proposal.h"
#include "server/contract/skill.h"
#include "server/registry/review/anchors.h"
#include "server/registry/review/checks.h"
#include "server/store/database.h"
#include "server/store/proposal_comment_table.h"
#include "server/store/proposal_table.h"

#include <functional>

namespace assay::review {

/// Proposals of one exact scope: read, discuss, judge, promote, withdraw (docs/review.md). Another scope's proposal is
/// `NotFound` like a missing one. A closed one takes nothing more: `Conflict` with reason `proposal_closed`. `ifMatch`
/// is the ETag of the proposal as the caller saw it: `PreconditionFailed` when anything of it has changed.
/// Thread-safe; calls block.
class Proposals
{
public:
    static constexpr std::uint64_t kMaxComments = 2000; ///< published ones of one proposal
    static constexpr std::size_t kMaxDrafts = 200;      ///< of one person in one proposal
    static constexpr std::uint32_t kMaxReviews = 1000;  ///< of one proposal

    Proposals(store::Database& database, store::SkillPackageStore& packages, const Clock& clock,
              const CheckRegistry& checks)
        : m_database(database), m_anchors(database, packages), m_clock(clock), m_checks(checks)
    {}

    Result<contract::Page<contract::Proposal>> list(const auth::Identity& by, const contract::ProposalFilter& filter,
                                                    const contract::PageRequest& page);
    Result<contract::Proposal> find(const auth::Identity& by, std::string_view id);

    /// Oldest first; the caller's own drafts among them.
    Result<contract::Page<contract::Comment>> comments(const auth::Identity& by, std::string_view id,
                                                       const contract::PageRequest& page);
    /// One comment, published at once unless it is a draft. `InvalidArgument` with a pointer when the revision on that
    /// side has no such file or line, or the thread is not there.
    Result<contract::Comment> comment(const auth::Identity& by, std::string_view id, contract::NewComment comment,
                                      const std::optional<std::string>& ifMatch = {});
    /// The caller's own draft; anybody else's, and a published one, is `NotFound`.
    Result<contract::Comment> editDraft(const auth::Identity& by, std::string_view id, std::string_view comment,
                                        std::string text);
    Result<void> removeDraft(const auth::Identity& by, std::string_view id, std::string_view comment);
    /// Marks a thread as resolved, or not.
    Result<contract::Proposal> resolve(const auth::Identity& by, std::string_view id,
                                       const contract::ResolveThread& thread,
                                       const std::optional<std::string>& ifMatch);

    struct Reviewed
    {
        contract::Review review;
        contract::Proposal proposal;
    };
    /// Publishes the caller's drafts and `comments` with one verdict, all or nothing. The publisher of the revision can
    /// only comment: `PermissionDenied` with reason `self_approval`.
    Result<Reviewed> review(const auth::Identity& by, std::string_view id, contract::NewReview review,
                            const std::optional<std::string>& ifMatch);
    Result<std::vector<contract::Review>> reviews(const auth::Identity& by, std::string_view id);
    /// Takes the caller's own verdict back; `NotFound` when none stands.
    Result<contract::Proposal> withdrawVerdict(const auth::Identity& by, std::string_view id,
                                               const std::optional<std::string>& ifMatch);

    /// That the caller has seen what `digest` can newly do against what is current now: `PreconditionFailed` when
    /// either is not what the request names, `InvalidArgument` when it leaves the base out though there is one.
    Result<contract::Proposal> acknowledge(const auth::Identity& by, std::string_view id,
                                           const contract::AcknowledgeRequest& request,
                                           const std::optional<std::string>& ifMatch);

    /// The caller's own marks that still hold: a file that changed since is not among them.
    Result<std::vector<contract::ViewedFile>> viewed(const auth::Identity& by, std::string_view id);
    Result<void> markViewed(const auth::Identity& by, std::string_view id, std::string_view path);
    Result<void> unmarkViewed(const auth::Identity& by, std::string_view id, std::string_view path);

    struct Promoted
    {
        contract::Proposal proposal;
        contract::Skill skill;
    };
    /// See review::promote. One caller at most wins.
    Result<Promoted> promote(const auth::Identity& by, std::string_view id, const contract::PromoteRequest& request,
                             const std::optional<std::string>& ifMatch);
    /// By the publisher or a reviewer; the revision is withdrawn with it.
    Result<contract::Proposal> withdraw(const auth::Identity& by, std::string_view id, std::string_view reason,
                                        const std::optional<std::string>& ifMatch);

private:
    using Change = std::function<Result<void>(store::Connection&, store::ProposalRow&)>;
    /// Runs `change` on an open proposal that still has the caller's tag, then writes its row as a new version.
    Result<contract::Proposal> change(const auth::Identity& by, std::string_view id,
                                      const std::optional<std::string>& ifMatch, const Change& change);
    Result<contract::Proposal> view(store::Connection& connection, std::string_view scope,
                                    const store::ProposalRow& row) const;
    Result<store::ProposalRow> requireOpen(store::Connection& connection, std::string_view scope, std::string_view id,
                                           const std::optional<std::string>& ifMatch) const;
    Result<void> log(store::Connection& connection, const auth::Identity& by, audit::Operation operation,
                     const store::ProposalRow& row) const;
    Result<contract::Proposal> find(store::Connection& connection, std::string_view scope, std::string_view id) const;
    Result<std::vector<store::CommentRow>> anchored(const auth::Identity& by, std::string_view id,
                                                    const std::vector<contract::NewComment>& comments,
                                                    std::string_view pointer);
    Result<void> add(store::Connection& connection, const auth::Identity& by, store::ProposalRow& proposal,
                     store::CommentRow& row, Timestamp now) const;
    Result<contract::Review> addReview(store::Connection& connection, const auth::Identity& by, store::ProposalRow& row,
                                       const contract::NewReview& review, std::vector<store::CommentRow> comments,
                                       Timestamp now) const;

    store::Database& m_database;
    Anchors m_anchors;
    const Clock& m_clock;
    const CheckRegistry& m_checks;
    mutable audit::Ledger m_ledger{m_database, m_clock};
};

} // namespace assay::review
