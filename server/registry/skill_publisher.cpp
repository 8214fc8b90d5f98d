// SPDX-License-Identifier: Apache-2.0
#include "server/registry/skill_publisher.h"

#include "server/core/ids.h"
#include "server/registry/capabilities/package_scan.h"
#include "server/registry/precondition.h"
#include "server/registry/review/pointer.h"
#include "server/registry/review/promotion.h"
#include "server/registry/review/proposal_steps.h"
#include "server/registry/review/scope_settings.h"
#include "server/registry/skill_view.h"
#include "server/registry/stored_form.h"

namespace assay::registry {

namespace {

// Above this the pieces go to the store one by one instead of being copied together first.
constexpr std::size_t kMaxJoinedBytes = 1U << 20;

std::size_t totalBytes(const std::vector<std::string_view>& pieces)
{
    std::size_t out = 0;
    for (const std::string_view piece : pieces)
        out += piece.size();
    return out;
}

std::string joined(const std::vector<std::string_view>& pieces)
{
    std::string out;
    out.reserve(totalBytes(pieces));
    for (const std::string_view piece : pieces)
        out += piece;
    return out;
}

bool isCurrent(const std::optional<store::SkillRow>& skill, const Digest& digest)
{
    return skill && !skill->deletedAt && !skill->currentRevision.empty() && skill->shown.id == skill->currentRevision &&
           skill->shown.digest == digest;
}

store::RevisionRow makeRow(const auth::Identity& by, const ValidPackage& package, std::string_view note, Timestamp now)
{
    store::RevisionRow row;
    row.id = newId("rev_", now);
    row.digest = package.digest;
    row.fileCount = package.files.size();
    row.sizeBytes = package.sizeBytes;
    row.createdAt = now;
    row.promotedAt = now;
    row.publisher = by.principal;
    row.note = note;
    row.network = package.network;
    row.allowedTools = package.allowedTools;
    row.inputSchema = package.inputSchema;
    row.outputSchema = package.outputSchema;
    row.requiresExecution = package.requiresExecution;
    row.lints = writeProblems(package.lints);
    row.ignored = writeStrings(package.ignored);
    row.description = package.description;
    row.files = writeFiles(package.files);
    row.capabilities =
        writeCapabilities(capabilities::scanPackage(package.files, package.network, package.allowedTools));
    return row;
}

std::string_view outcomeOf(const Published& published)
{
    if (!published.revisionCreated)
        return "unchanged";
    return published.skillCreated ? "created" : "revised";
}

std::string_view failureCode(const Error& error)
{
    const bool hasFinding = error.code == ErrorCode::InvalidPackage && !error.problems.empty();
    return hasFinding ? std::string_view(error.problems.front().code) : traits(error.code).code;
}

} // namespace

void measurePublish(Metrics& metrics, const Result<Published>& published)
{
    if (published)
        metrics.published(Metrics::Publish::Done, outcomeOf(*published));
    else
        metrics.published(Metrics::Publish::Failed, failureCode(published.error()));
}

SkillPublisher::SkillPublisher(const auth::Identity& by, const ValidPackage& package, const PublishOptions& options,
                               Timestamp now)
    : m_by(by),
      m_package(package),
      m_options(options),
      m_now(now),
      m_pieces(package.canonicalPieces()),
      m_searchText(skillSearchText(package.name, package.description)),
      m_revision(makeRow(by, package, options.note, now))
{
    if (totalBytes(m_pieces) > kMaxJoinedBytes)
        return;
    m_joined = joined(m_pieces);
    m_pieces.assign({m_joined});
}

Result<Published> SkillPublisher::commit(store::Connection& connection, store::TransactionalPut* bundles)
{
    const std::string_view scope = m_by.scopeFingerprint;
    auto existing = store::SkillTable(connection).find(scope, m_package.name);
    if (!existing)
        return forward(existing);
    if (auto allowed = checkIntent(*existing); !allowed)
        return forward(allowed);
    if (auto stopped = review::checkNotStopped(connection, m_package.digest); !stopped)
        return forward(stopped);
    // Also for content that is there already: it repairs a damaged bundle.
    if (bundles != nullptr) {
        if (auto stored = bundles->put(connection, scope, m_package.digest, m_pieces); !stored)
            return forward(stored);
    }
    if (isCurrent(*existing, m_package.digest))
        return keepCurrent(connection, std::move(**existing));
    auto settings = review::scopeSettings(connection, scope);
    if (!settings)
        return forward(settings);
    m_isReviewed = settings->promotionMode == "reviewed";
    auto waiting = sameProposal(connection, *existing);
    if (!waiting)
        return forward(waiting);
    if (*waiting)
        return keepProposed(connection, std::move(**existing), **waiting);
    return addRevision(connection, std::move(*existing));
}

Result<std::optional<store::ProposalRow>>
SkillPublisher::sameProposal(store::Connection& connection, const std::optional<store::SkillRow>& existing) const
{
    if (!m_isReviewed || !existing || existing->deletedAt)
        return std::nullopt;
    auto open = store::ProposalTable(connection).openOf(m_by.scopeFingerprint, m_package.name);
    if (open && *open && (*open)->digest != m_package.digest)
        open->reset();
    return open;
}

Result<void> SkillPublisher::checkIntent(const std::optional<store::SkillRow>& existing) const
{
    const bool exists = existing && !existing->deletedAt;
    if (exists && m_options.intent == PublishOptions::Intent::CreateOnly)
        return fail(ErrorCode::Conflict, "a skill named \"" + m_package.name +
                                             "\" exists; publish a new revision of it with PUT, or choose another "
                                             "name");
    return checkIfMatch(m_options.ifMatch,
                        exists ? std::optional(rowTag(existing->version, existing->updatedAt)) : std::nullopt);
}

Result<Published> SkillPublisher::keepCurrent(store::Connection& connection, store::SkillRow row) const
{
    if (applyMetadata(row)) {
        ++row.version;
        row.updatedAt = m_now;
        if (auto updated = store::SkillTable(connection).update(m_by.scopeFingerprint, row); !updated)
            return forward(updated);
    }
    return Published{makeSkill(row), false, false, {}};
}

Result<Published> SkillPublisher::keepProposed(store::Connection& connection, store::SkillRow row,
                                               const store::ProposalRow& proposal) const
{
    auto revision =
        store::RevisionTable(connection).find(m_by.scopeFingerprint, row.name, proposal.revision, store::WithFiles::No);
    if (!revision)
        return forward(revision);
    auto kept = keepCurrent(connection, row);
    if (!kept || !*revision)
        return kept;
    const contract::Skill present = kept->skill;
    row.shown = makeShown(**revision);
    row.description = m_package.description;
    kept->skill = makeSkill(row);
    kept->skill.enabled = present.enabled;
    kept->skill.visibility = present.visibility;
    kept->skill.updatedAt = present.updatedAt;
    kept->skill.etag = present.etag;
    kept->proposal = proposal.id;
    return kept;
}

Result<Published> SkillPublisher::addRevision(store::Connection& connection, std::optional<store::SkillRow> existing)
{
    store::SkillTable skills(connection);
    const bool isNew = !existing;
    const bool isCreated = isNew || existing->deletedAt.has_value();
    store::SkillRow row = existing.value_or(store::SkillRow{});
    if (isCreated) {
        // Only the numbers and the version outlive a deletion.
        row = {.name = m_package.name, .version = row.version, .lastNumber = row.lastNumber, .createdAt = m_now};
        row.visibility = "private";
        row.labels = writeLabels({});
    }
    applyMetadata(row);
    const std::string from = row.currentRevision;
    const std::uint64_t fromNumber = from == row.shown.id ? row.shown.number : 0;
    moveTo(row);
    const std::string_view scope = m_by.scopeFingerprint;
    auto saved = isNew ? skills.insert(scope, row) : skills.update(scope, row);
    if (saved)
        saved = store::RevisionTable(connection).insert(scope, row.name, m_revision);
    if (!saved)
        return forward(saved);
    auto proposal = settle(connection, row, from, from.empty() ? 0 : fromNumber);
    if (!proposal)
        return forward(proposal);
    row.shown = makeShown(m_revision);
    row.description = m_package.description;
    return Published{makeSkill(row), isCreated, true, std::move(*proposal)};
}

/// What comes with a new revision: a proposal, whose id this is, or a move of the pointer.
Result<std::string> SkillPublisher::settle(store::Connection& connection, const store::SkillRow& row,
                                           std::string_view from, std::uint64_t fromNumber)
{
    if (m_isReviewed) {
        auto opened = review::openProposal(connection, m_by, row, m_revision, m_now);
        return opened ? Result<std::string>(std::move(opened->id)) : forward(opened);
    }
    const std::string_view scope = m_by.scopeFingerprint;
    auto done = review::closeOpen(connection, scope, row.name, {},
                                  {"superseded", m_by.principal, "a newer revision was published", {}, m_now});
    if (done)
        done = review::recordMove(connection, scope, row, from, fromNumber, &m_revision,
                                  {"publish", m_by.principal, m_options.note, m_now});
    if (!done)
        return forward(done);
    return std::string();
}

// True when something changed.
bool SkillPublisher::applyMetadata(store::SkillRow& row) const
{
    const bool enabled = m_options.enabled.value_or(row.enabled);
    const std::string visibility = m_options.visibility.value_or(row.visibility);
    const bool changes = enabled != row.enabled || visibility != row.visibility;
    row.enabled = enabled;
    row.visibility = visibility;
    return changes;
}

void SkillPublisher::moveTo(store::SkillRow& row)
{
    ++row.version;
    ++row.lastNumber;
    m_revision.number = row.lastNumber;
    row.updatedAt = m_now;
    row.deletedAt.reset();
    if (m_isReviewed) {
        m_revision.promotedAt.reset();
        if (!row.currentRevision.empty())
            return; // what is current stays, and is what the skill shows
        row.state = "proposed";
    } else {
        row.state = "current";
        row.currentRevision = m_revision.id;
    }
    row.shown = makeShown(m_revision);
    row.description = m_package.description;
    row.searchText = m_searchText;
}

} // namespace assay::registry
