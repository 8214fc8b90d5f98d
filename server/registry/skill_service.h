// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/ledger.h"
#include "server/auth/identity.h"
#include "server/contract/diff.h"
#include "server/contract/proposal.h"
#include "server/contract/skill.h"
#include "server/core/clock.h"
#include "server/core/metrics.h"
#include "server/registry/archive.h"
#include "server/registry/archive_cache.h"
#include "server/registry/package.h"
#include "server/registry/review/checks.h"
#include "server/store/database.h"
#include "server/store/package_store.h"
#include "server/store/revision_table.h"
#include "server/store/skill_table.h"

namespace assay::registry {

/// What a publish is asked for besides the bytes.
struct PublishOptions
{
    enum class Intent : std::uint8_t { CreateOnly, CreateOrReplace };
    Intent intent = Intent::CreateOrReplace;
    std::optional<std::string> ifMatch; ///< the ETag the caller saw, unquoted; "*" for any
    std::string note;
    std::optional<bool> enabled;
    std::optional<std::string> visibility;
};

struct Published
{
    contract::Skill skill;        ///< describes the published revision
    bool skillCreated = false;    ///< answers 201
    bool revisionCreated = false; ///< false when the content equals the current revision, or the open proposal's
    std::string proposal;         ///< the one that the revision waits in; empty when it is current
};

/// A skill as a run pins it: one exact revision with its files.
struct PinnedSkill
{
    std::string name;
    std::string revision;
    std::uint64_t number = 0;
    Digest digest;
    std::uint64_t sizeBytes = 0;
    std::string network;     ///< the frontmatter's wish
    bool proposed = false;   ///< it never was current: nobody has approved it
    std::string inputSchema; ///< as in `ValidPackage`
    std::string outputSchema;
    std::vector<contract::RevisionFile> files;
};

/// Skills and their revisions in one exact scope: publish, read, promote, withdraw, delete. Every call takes the
/// identity and reads only its scope; another scope's skill is `NotFound` like a missing one. Thread-safe; calls block.
class SkillService
{
public:
    /// `checks`: what promotions in scopes of mode `reviewed` are judged by.
    SkillService(store::Database& database, store::SkillPackageStore& packages, const Clock& clock,
                 PackageLimits limits, Metrics* metrics = nullptr,
                 std::shared_ptr<const review::CheckRegistry> checks = std::make_shared<review::CheckRegistry>());

    /// Validates, stores the bundle, then commits the catalog row: durable on return. In a scope of mode `reviewed` the
    /// revision waits in a proposal; `Refused` with `revision_withdrawn` for content that the operator stopped.
    Result<Published> publish(const auth::Identity& by, std::string_view name, PackageSource source,
                              const PublishOptions& options);
    contract::Verdict validate(std::string_view name, PackageSource source) const;

    Result<contract::Page<contract::Skill>> list(const auth::Identity& by, const contract::SkillFilter& filter,
                                                 const contract::PageRequest& page);
    Result<contract::Skill> find(const auth::Identity& by, std::string_view name);
    Result<contract::Skill> patch(const auth::Identity& by, std::string_view name, const contract::PatchSkill& patch,
                                  const std::optional<std::string>& ifMatch);
    /// Withdraws availability; revisions stay for manifests, and a later publish continues the same history.
    Result<void> remove(const auth::Identity& by, std::string_view name, const std::optional<std::string>& ifMatch);

    Result<contract::Page<contract::Revision>> revisions(const auth::Identity& by, std::string_view name,
                                                         const contract::PageRequest& page);
    /// `revision` is an id or "current", here and below.
    Result<contract::Revision> revision(const auth::Identity& by, std::string_view name, std::string_view revision);
    Result<std::vector<contract::RevisionFile>> files(const auth::Identity& by, std::string_view name,
                                                      std::string_view revision);

    /// One file's bytes, verified against the catalog. `storage` keeps them alive.
    struct FileContent
    {
        contract::RevisionFile file;
        std::string_view bytes;
        std::shared_ptr<const void> storage;
        std::string revisionDigest;
    };
    Result<FileContent> file(const auth::Identity& by, std::string_view name, std::string_view revision,
                             std::string_view path);

    struct ArchiveContent
    {
        std::shared_ptr<const std::string> bytes;
        std::string digest;
    };
    Result<ArchiveContent> archive(const auth::Identity& by, std::string_view name, std::string_view revision,
                                   ArchiveKind kind);

    /// All files of a revision, read from its verified bundle.
    struct Content
    {
        contract::Revision revision;
        std::vector<PackageFile> files;
        std::string network; ///< the frontmatter's, as for `PinnedSkill`
        std::string allowedTools;
        std::shared_ptr<const void> storage; ///< keeps the views in `files` alive
    };
    Result<Content> content(const auth::Identity& by, std::string_view name, std::string_view revision);

    /// What a revision can do: found when it was published; for one from before, or by other rules, found now and kept.
    Result<contract::CapabilityReport> capabilities(const auth::Identity& by, std::string_view name,
                                                    std::string_view revision);

    /// The two revisions of a comparison, found but not read: their ids and digests decide all that `compare` answers.
    struct Compared
    {
        std::optional<contract::Revision> from;
        contract::Revision to;
    };
    /// `from` may also be "none": then `to` is compared with nothing.
    Result<Compared> compared(const auth::Identity& by, std::string_view name, std::string_view from,
                              std::string_view to);
    /// `NotFound` when `options.path` is on neither side.
    Result<contract::SkillDiff> compare(const auth::Identity& by, std::string_view name, const Compared& revisions,
                                        const contract::DiffOptions& options);

    /// Moves the current pointer, by the rules and with the errors of review::promote.
    Result<contract::Skill> promote(const auth::Identity& by, std::string_view name, std::string_view revision,
                                    const std::optional<std::string>& ifMatch, std::string_view reason = {});
    /// Refuses the revision for new runs. The current one may be withdrawn too: the skill then has none to run.
    /// `ifMatch` is of the skill.
    Result<contract::Revision> withdraw(const auth::Identity& by, std::string_view name, std::string_view revision,
                                        const contract::WithdrawRequest& request,
                                        const std::optional<std::string>& ifMatch = {});

    /// For a run: the current revision of each name, or the one that `revisions` names for it, all read in one
    /// snapshot. `Refused` with `skill_not_found`, `skill_disabled` or `revision_withdrawn`, naming the skill;
    /// `NotFound` for a named revision that is not there.
    Result<std::vector<PinnedSkill>> pin(std::string_view scopeFingerprint, const std::vector<std::string>& names,
                                         const std::map<std::string, std::string>& revisions = {});
    /// The verified bundle of a pinned revision, for the materializer. `Refused` with `package_store_unavailable` or
    /// `digest_mismatch`.
    Result<store::Bundle> bundle(std::string_view scopeFingerprint, const Digest& digest);
    /// The same in pieces, while they are read: see store::SkillPackageStore::read for what `each` may believe of them.
    Result<void> readBundle(std::string_view scopeFingerprint, const Digest& digest, const store::PieceSink& each);
    /// Which package store serves: pinned in manifests and part of every cache key (R12).
    std::string storeIdentity() const { return m_packages.identity(); }

private:
    struct Found
    {
        store::SkillRow skill;
        store::RevisionRow revision;
    };
    Result<Published> store(const auth::Identity& by, std::string_view name, PackageSource source,
                            const PublishOptions& options);
    void countDamage(const Error& error) const;
    Result<Found> findRevision(std::string_view scope, std::string_view name, std::string_view revision,
                               store::WithFiles files);
    Result<contract::CapabilityReport> storedCapabilities(const auth::Identity& by, std::string_view name,
                                                          std::string_view revisionId, const Content* content);
    Result<std::vector<PackageFile>> verifiedFiles(std::string_view scope, const Digest& digest,
                                                   std::shared_ptr<const void>& storage,
                                                   FileFacts facts = FileFacts::Compute);

    store::Database& m_database;
    store::SkillPackageStore& m_packages;
    const Clock& m_clock;
    PackageLimits m_limits;
    Metrics* m_metrics; ///< may be absent
    std::shared_ptr<const review::CheckRegistry> m_checks;
    audit::Ledger m_ledger{m_database, m_clock};
    ArchiveCache m_archives; ///< making a tar.gz costs a hundred times what reading its bundle costs
};

} // namespace assay::registry
