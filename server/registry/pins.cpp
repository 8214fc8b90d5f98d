// SPDX-License-Identifier: Apache-2.0
#include "server/registry/pins.h"

#include "server/registry/review/promotion.h"
#include "server/registry/skill_lookup.h"
#include "server/registry/stored_form.h"

namespace assay::registry {

namespace {

Result<void> checkRunnable(store::Connection& connection, const std::string& name, const store::RevisionRow& revision)
{
    if (revision.withdrawnAt)
        return refuse("revision_withdrawn", "the revision " + std::to_string(revision.number) + " of the skill \"" +
                                                name + "\" was withdrawn: " + revision.withdrawnReason);
    return review::checkNotStopped(connection, revision.digest);
}

Result<store::SkillRow> runnableSkill(store::Connection& connection, std::string_view scope, const std::string& name)
{
    auto row = store::SkillTable(connection).find(scope, name);
    if (!row)
        return forward(row);
    if (!*row || (*row)->deletedAt)
        return refuse("skill_not_found", "there is no skill named \"" + name + "\"");
    if (!(*row)->enabled)
        return refuse("skill_disabled", "the skill \"" + name + "\" is disabled; enable it to run it");
    return std::move(**row);
}

} // namespace

Result<PinnedSkill> pinOne(store::Connection& connection, std::string_view scope, const std::string& name,
                           std::string_view revision)
{
    auto skill = runnableSkill(connection, scope, name);
    if (!skill)
        return forward(skill);
    if (revision == "current" && skill->currentRevision.empty())
        return refuse("revision_withdrawn", "the skill \"" + name +
                                                "\" has no current revision: it was withdrawn or waits for review; "
                                                "promote a revision or publish a new one");
    auto row = requireRevision(connection, scope, *skill, revision, store::WithFiles::Yes);
    if (!row)
        return forward(row);
    if (auto runnable = checkRunnable(connection, name, *row); !runnable)
        return forward(runnable);
    auto files = readFiles(row->files);
    if (!files)
        return forward(files);
    if (!row->digest)
        return refuse("digest_mismatch", "the stored digest of the skill \"" + name + "\" is damaged");
    PinnedSkill out;
    out.name = name;
    out.revision = row->id;
    out.number = row->number;
    out.digest = *row->digest;
    out.sizeBytes = row->sizeBytes;
    out.network = row->network;
    out.inputSchema = row->inputSchema;
    out.outputSchema = row->outputSchema;
    out.proposed = !row->promotedAt;
    out.files = std::move(*files);
    return out;
}

Result<void> checkStillRunnable(store::Connection& connection, std::string_view scope,
                                std::span<const PinnedSkill> skills)
{
    for (const PinnedSkill& skill : skills) {
        auto row = store::RevisionTable(connection).find(scope, skill.name, skill.revision, store::WithFiles::No);
        if (!row)
            return forward(row);
        if (!*row)
            continue;
        if (auto runnable = checkRunnable(connection, skill.name, **row); !runnable)
            return runnable;
    }
    return {};
}

} // namespace assay::registry
