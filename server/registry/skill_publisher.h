// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/skill_service.h"
#include "server/store/proposal_table.h"
#include "server/store/skill_table.h"

namespace assay::registry {

/// One publish of one valid package: prepares all that can be prepared outside the writer's thread, then runs as one
/// write job. Used once, on one thread at a time.
class SkillPublisher
{
public:
    SkillPublisher(const auth::Identity& by, const ValidPackage& package, const PublishOptions& options, Timestamp now);

    /// The bundle's bytes, ready for a store.
    std::span<const std::string_view> bundle() const { return m_pieces; }

    /// The write job. Bundle first when it rides along (`bundles` not null), then the catalog.
    Result<Published> commit(store::Connection& connection, store::TransactionalPut* bundles);

private:
    Result<void> checkIntent(const std::optional<store::SkillRow>& existing) const;
    Result<Published> keepCurrent(store::Connection& connection, store::SkillRow row) const;
    /// The open proposal that waits with this very content, in a scope of mode `reviewed`.
    Result<std::optional<store::ProposalRow>> sameProposal(store::Connection& connection,
                                                           const std::optional<store::SkillRow>& existing) const;
    Result<Published> keepProposed(store::Connection& connection, store::SkillRow row,
                                   const store::ProposalRow& proposal) const;
    Result<Published> addRevision(store::Connection& connection, std::optional<store::SkillRow> existing);
    Result<std::string> settle(store::Connection& connection, const store::SkillRow& row, std::string_view from,
                               std::uint64_t fromNumber);
    bool applyMetadata(store::SkillRow& row) const;
    void moveTo(store::SkillRow& row);

    const auth::Identity& m_by;
    const ValidPackage& m_package;
    const PublishOptions& m_options;
    const Timestamp m_now;
    std::string m_joined;
    std::vector<std::string_view> m_pieces;
    std::string m_searchText;
    store::RevisionRow m_revision;
    bool m_isReviewed = false; ///< of the scope, as the write job finds it
};

/// Counts a publish by what it made or why it failed.
void measurePublish(Metrics& metrics, const Result<Published>& published);

} // namespace assay::registry
