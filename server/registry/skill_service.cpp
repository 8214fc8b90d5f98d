// SPDX-License-Identifier: Apache-2.0
#include "server/registry/skill_service.h"

#include "server/core/text.h"
#include "server/registry/pins.h"
#include "server/registry/recorded.h"
#include "server/registry/review/pointer.h"
#include "server/registry/review/promotion.h"
#include "server/registry/review/proposal_steps.h"
#include "server/registry/skill_lookup.h"
#include "server/registry/skill_publisher.h"
#include "server/registry/skill_rules.h"
#include "server/registry/skill_view.h"
#include "server/registry/stored_form.h"
#include "server/store/page_token.h"

#include <charconv>

namespace assay::registry {

using store::Connection;
using store::RevisionRow;
using store::RevisionTable;
using store::SkillRow;
using store::SkillTable;
using store::WithFiles;

namespace {

constexpr std::size_t kArchiveCacheBytes = 4U << 20;

Result<void> save(Connection& connection, std::string_view scope, SkillRow& row, Timestamp now)
{
    ++row.version;
    row.updatedAt = now;
    return SkillTable(connection).update(scope, row);
}

bool applyPatch(SkillRow& row, const contract::PatchSkill& patch)
{
    const SkillRow before = row;
    row.enabled = patch.enabled.value_or(row.enabled);
    row.visibility = patch.visibility.value_or(row.visibility);
    if (patch.labels)
        row.labels = writeLabels(*patch.labels);
    return row.enabled != before.enabled || row.visibility != before.visibility || row.labels != before.labels;
}

std::string_view enabledWord(const std::optional<bool>& enabled)
{
    if (!enabled)
        return "";
    return *enabled ? "true" : "false";
}

Result<std::uint64_t> readNumber(std::string_view cursor)
{
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), number);
    if (error != std::errc() || end != cursor.data() + cursor.size() || number > INT64_MAX)
        return failAt("/page_token", "the page token does not belong to this list; begin again without one");
    return number;
}

} // namespace

SkillService::SkillService(store::Database& database, store::SkillPackageStore& packages, const Clock& clock,
                           PackageLimits limits, Metrics* metrics, std::shared_ptr<const review::CheckRegistry> checks)
    : m_database(database),
      m_packages(packages),
      m_clock(clock),
      m_limits(limits),
      m_metrics(metrics),
      m_checks(std::move(checks)),
      m_archives(kArchiveCacheBytes)
{}

Result<Published> SkillService::publish(const auth::Identity& by, std::string_view name, PackageSource source,
                                        const PublishOptions& options)
{
    auto published = store(by, name, std::move(source), options);
    if (m_metrics)
        measurePublish(*m_metrics, published);
    return published;
}

Result<Published> SkillService::store(const auth::Identity& by, std::string_view name, PackageSource source,
                                      const PublishOptions& options)
{
    if (auto checked = checkPublishOptions(options); !checked)
        return forward(checked);
    auto package = validatePackage(std::move(source), name, m_limits);
    if (!package)
        return forward(package);
    SkillPublisher publisher(by, *package, options, m_clock.now());
    store::TransactionalPut* rides = m_packages.within(m_database);
    // Until the row is committed nothing names the bundle, and a collection would take it.
    const auto hold = m_packages.hold(by.scopeFingerprint, package->digest);
    if (rides == nullptr) {
        if (auto stored = m_packages.put(by.scopeFingerprint, package->digest, publisher.bundle()); !stored)
            return forward(stored);
    }
    return m_database.write([&](Connection& connection) -> Result<Published> {
        auto published = publisher.commit(connection, rides);
        if (!published)
            return published;
        std::string resource = audit::revisionResource(published->skill.name, published->skill.revision);
        return recorded(m_ledger, connection, by, audit::Operation::SkillPublish, audit::ResourceType::Revision,
                        std::move(resource), std::move(*published));
    });
}

contract::Verdict SkillService::validate(std::string_view name, PackageSource source) const
{
    contract::Verdict out;
    out.ignored = source.ignored;
    auto package = validatePackage(std::move(source), name, m_limits);
    out.valid = package.has_value();
    if (!package) {
        out.errors = package.error().problems;
        if (out.errors.empty())
            out.errors.push_back(
                {.code = std::string(traits(package.error().code).code), .message = package.error().message});
        return out;
    }
    out.lints = package->lints;
    out.digest = package->digest.text();
    out.fileCount = package->files.size();
    out.sizeBytes = package->sizeBytes;
    out.ignored = package->ignored;
    return out;
}

Result<contract::Page<contract::Skill>>
SkillService::list(const auth::Identity& by, const contract::SkillFilter& filter, const contract::PageRequest& page)
{
    auto checked = checkFilter(filter);
    if (checked)
        checked = checkPage(page);
    if (!checked)
        return forward(checked);
    const std::string_view scope = by.scopeFingerprint;
    const store::ListIdentity identity{"skills", scope, {filter.text, enabledWord(filter.enabled), filter.state}};
    auto cursor = store::readPageToken(identity, page.token);
    if (!cursor)
        return forward(cursor);
    const store::SkillQuery query{caseFoldKey(filter.text), filter.enabled, filter.state, std::move(*cursor),
                                  page.size};
    return m_database.read([&](Connection& connection) -> Result<contract::Page<contract::Skill>> {
        auto listed = SkillTable(connection).list(scope, query);
        if (!listed)
            return forward(listed);
        contract::Page<contract::Skill> out;
        out.items.reserve(listed->rows.size());
        for (const SkillRow& row : listed->rows)
            out.items.push_back(makeSkill(row));
        if (listed->more)
            out.nextPageToken = store::makePageToken(identity, *listed->more);
        return out;
    });
}

Result<contract::Skill> SkillService::find(const auth::Identity& by, std::string_view name)
{
    return m_database.read([&](Connection& connection) -> Result<contract::Skill> {
        auto row = requireSkill(connection, by.scopeFingerprint, name);
        return row ? makeSkill(*row) : Result<contract::Skill>(forward(row));
    });
}

Result<contract::Skill> SkillService::patch(const auth::Identity& by, std::string_view name,
                                            const contract::PatchSkill& patch,
                                            const std::optional<std::string>& ifMatch)
{
    if (auto checked = checkPatch(patch); !checked)
        return forward(checked);
    const std::string_view scope = by.scopeFingerprint;
    return m_database.write([&, now = m_clock.now()](Connection& connection) -> Result<contract::Skill> {
        auto row = requireMatching(connection, scope, name, ifMatch);
        if (!row)
            return forward(row);
        if (applyPatch(*row, patch)) {
            if (auto saved = save(connection, scope, *row, now); !saved)
                return forward(saved);
        }
        return recorded(m_ledger, connection, by, audit::Operation::SkillPatch, audit::ResourceType::Skill, row->name,
                        makeSkill(*row));
    });
}

Result<void> SkillService::remove(const auth::Identity& by, std::string_view name,
                                  const std::optional<std::string>& ifMatch)
{
    const std::string_view scope = by.scopeFingerprint;
    return m_database.write([&, now = m_clock.now()](Connection& connection) -> Result<void> {
        auto row = requireMatching(connection, scope, name, ifMatch);
        if (!row)
            return forward(row);
        row->deletedAt = now;
        auto done = review::closeOpen(connection, scope, name, {},
                                      {"withdrawn", by.principal, "the skill was deleted", {}, now});
        row->state = "withdrawn";
        if (done && !row->currentRevision.empty())
            done = review::movePointer(connection, scope, *row, nullptr, {"delete", by.principal, {}, now});
        else if (done)
            done = save(connection, scope, *row, now);
        if (!done)
            return done;
        return m_ledger.append(connection, audit::recordBy(by, audit::Operation::SkillDelete, audit::Decision::Allowed,
                                                           audit::ResourceType::Skill, row->name));
    });
}

Result<contract::Page<contract::Revision>> SkillService::revisions(const auth::Identity& by, std::string_view name,
                                                                   const contract::PageRequest& page)
{
    if (auto checked = checkPage(page); !checked)
        return forward(checked);
    const std::string_view scope = by.scopeFingerprint;
    const store::ListIdentity identity{"revisions", scope, {name}};
    auto cursor = store::readPageToken(identity, page.token);
    if (!cursor)
        return forward(cursor);
    const auto before = cursor->empty() ? Result<std::uint64_t>(0) : readNumber(*cursor);
    if (!before)
        return std::unexpected(before.error());
    return m_database.read([&](Connection& connection) -> Result<contract::Page<contract::Revision>> {
        auto skill = requireSkill(connection, scope, name);
        if (!skill)
            return forward(skill);
        auto rows = RevisionTable(connection).list(scope, name, *before, page.size + 1);
        if (!rows)
            return forward(rows);
        contract::Page<contract::Revision> out;
        if (rows->size() > page.size) {
            rows->pop_back();
            out.nextPageToken = store::makePageToken(identity, std::to_string(rows->back().number));
        }
        for (const RevisionRow& row : *rows)
            out.items.push_back(makeRevision(row, *skill));
        return out;
    });
}

Result<SkillService::Found> SkillService::findRevision(std::string_view scope, std::string_view name,
                                                       std::string_view revision, WithFiles files)
{
    return m_database.read([&](Connection& connection) -> Result<Found> {
        auto skill = requireSkill(connection, scope, name);
        if (!skill)
            return forward(skill);
        auto row = requireRevision(connection, scope, *skill, revision, files);
        if (!row)
            return forward(row);
        return Found{std::move(*skill), std::move(*row)};
    });
}

Result<contract::Revision> SkillService::revision(const auth::Identity& by, std::string_view name,
                                                  std::string_view revision)
{
    auto found = findRevision(by.scopeFingerprint, name, revision, WithFiles::No);
    if (!found)
        return forward(found);
    return makeRevision(found->revision, found->skill);
}

Result<std::vector<contract::RevisionFile>> SkillService::files(const auth::Identity& by, std::string_view name,
                                                                std::string_view revision)
{
    auto found = findRevision(by.scopeFingerprint, name, revision, WithFiles::Yes);
    if (!found)
        return forward(found);
    return readFiles(found->revision.files);
}

Result<std::vector<PackageFile>> SkillService::verifiedFiles(std::string_view scope, const Digest& digest,
                                                             std::shared_ptr<const void>& storage, FileFacts facts)
{
    auto bundle = m_packages.fetch(scope, digest);
    if (!bundle && bundle.error().code == ErrorCode::NotFound)
        // The catalog names it, so this is the server's failure and not the caller's.
        return fail(ErrorCode::Internal,
                    "the stored bytes of this revision are missing; publish them again or restore "
                    "a backup",
                    bundle.error().detail);
    if (!bundle) {
        countDamage(bundle.error());
        return forward(bundle);
    }
    storage = bundle->storage();
    return parseCanonicalStream(bundle->bytes(), facts);
}

void SkillService::countDamage(const Error& error) const
{
    if (m_metrics && error.reason == "digest_mismatch")
        m_metrics->add(Count::DigestMismatch, 1);
}

Result<SkillService::FileContent> SkillService::file(const auth::Identity& by, std::string_view name,
                                                     std::string_view revision, std::string_view path)
{
    auto found = findRevision(by.scopeFingerprint, name, revision, WithFiles::Yes);
    if (!found)
        return forward(found);
    auto listed = readFiles(found->revision.files);
    if (!listed)
        return forward(listed);
    const auto entry = std::ranges::find(*listed, path, &contract::RevisionFile::path);
    if (entry == listed->end())
        return fail(ErrorCode::NotFound, "the revision has no file of this path");
    std::shared_ptr<const void> storage;
    const Digest digest = found->revision.digest.value_or(Digest());
    auto files = verifiedFiles(by.scopeFingerprint, digest, storage);
    if (!files)
        return forward(files);
    const auto stored = std::ranges::find(*files, path, &PackageFile::path);
    if (stored == files->end() || Digest::ofBytes(stored->content).text() != entry->sha256) {
        Error error{ErrorCode::Internal,
                    "the stored bytes of this file are damaged and not served",
                    "catalog and bundle differ",
                    "digest_mismatch",
                    {}};
        countDamage(error);
        return std::unexpected(std::move(error));
    }
    return FileContent{std::move(*entry), stored->content, std::move(storage), digest.text()};
}

Result<SkillService::ArchiveContent> SkillService::archive(const auth::Identity& by, std::string_view name,
                                                           std::string_view revision, ArchiveKind kind)
{
    auto found = findRevision(by.scopeFingerprint, name, revision, WithFiles::No);
    if (!found)
        return forward(found);
    const Digest digest = found->revision.digest.value_or(Digest());
    const std::string key = by.scopeFingerprint + '/' + digest.hex() + '/' + found->skill.name + '/' +
                            std::to_string(static_cast<int>(kind));
    if (auto kept = m_archives.find(key))
        return ArchiveContent{std::move(kept), digest.text()};
    std::shared_ptr<const void> storage;
    auto files = verifiedFiles(by.scopeFingerprint, digest, storage);
    if (!files)
        return forward(files);
    auto bytes = writeArchive(*files, found->skill.name, kind);
    if (!bytes)
        return forward(bytes);
    auto shared = std::make_shared<const std::string>(std::move(*bytes));
    m_archives.keep(key, shared);
    return ArchiveContent{std::move(shared), digest.text()};
}

Result<contract::Skill> SkillService::promote(const auth::Identity& by, std::string_view name,
                                              std::string_view revision, const std::optional<std::string>& ifMatch,
                                              std::string_view reason)
{
    if (auto checked = checkReason(reason); !checked)
        return forward(checked);
    const std::string_view scope = by.scopeFingerprint;
    return m_database.write([&, now = m_clock.now()](Connection& connection) -> Result<contract::Skill> {
        auto row = requireMatching(connection, scope, name, ifMatch);
        if (!row)
            return forward(row);
        auto target = requireRevision(connection, scope, *row, revision, WithFiles::No);
        if (!target)
            return forward(target);
        if (auto done = review::promote(connection, *m_checks, m_ledger, by, *row, *target, reason, now); !done)
            return forward(done);
        return makeSkill(*row);
    });
}

Result<contract::Revision> SkillService::withdraw(const auth::Identity& by, std::string_view name,
                                                  std::string_view revision, const contract::WithdrawRequest& request,
                                                  const std::optional<std::string>& ifMatch)
{
    if (auto checked = checkReason(request.reason); !checked)
        return forward(checked);
    const std::string_view scope = by.scopeFingerprint;
    return m_database.write([&, now = m_clock.now()](Connection& connection) -> Result<contract::Revision> {
        auto row = requireMatching(connection, scope, name, ifMatch);
        if (!row)
            return forward(row);
        auto target = requireRevision(connection, scope, *row, revision, WithFiles::No);
        if (!target)
            return forward(target);
        if (auto done = review::withdraw(connection, m_ledger, by, *row, *target, request, now); !done)
            return forward(done);
        return makeRevision(*target, *row);
    });
}

Result<std::vector<PinnedSkill>> SkillService::pin(std::string_view scopeFingerprint,
                                                   const std::vector<std::string>& names,
                                                   const std::map<std::string, std::string>& revisions)
{
    return m_database.read([&](Connection& connection) -> Result<std::vector<PinnedSkill>> {
        std::vector<PinnedSkill> out;
        out.reserve(names.size());
        for (const std::string& name : names) {
            const auto asked = revisions.find(name);
            auto pinned =
                pinOne(connection, scopeFingerprint, name, asked == revisions.end() ? "current" : asked->second);
            if (!pinned)
                return forward(pinned);
            out.push_back(std::move(*pinned));
        }
        return out;
    });
}

} // namespace assay::registry
