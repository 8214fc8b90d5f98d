// SPDX-License-Identifier: Apache-2.0
#include "server/registry/skill_view.h"

#include "server/core/text.h"
#include "server/registry/precondition.h"
#include "server/registry/stored_form.h"

namespace assay::registry {

namespace {

// What is not UTF-8 has no place in an answer and must not take its neighbours down.
std::string readable(const std::string& text) { return isUtf8(text) ? text : std::string(); }

std::string statusOf(const std::vector<Problem>& lints) { return lints.empty() ? "valid" : "valid_with_lints"; }

std::string stateOf(const store::RevisionRow& row, const store::SkillRow& skill)
{
    if (row.withdrawnAt)
        return "withdrawn";
    if (row.id == skill.currentRevision)
        return "current";
    // A newer revision supersedes the one that waits.
    return row.promotedAt || row.number < skill.lastNumber ? "superseded" : "proposed";
}

} // namespace

std::string skillSearchText(std::string_view name, std::string_view description)
{
    constexpr std::size_t kMaxBytes = 8192;
    std::string text(name);
    text.append("\n").append(description.substr(0, kMaxBytes));
    while (!text.empty() && !isUtf8(text))
        text.pop_back();
    return caseFoldKey(text);
}

contract::Skill makeSkill(const store::SkillRow& row)
{
    contract::Skill out;
    out.name = readable(row.name);
    out.description = readable(row.description);
    out.enabled = row.enabled;
    out.visibility = readable(row.visibility);
    out.labels = readLabels(row.labels);
    out.currentRevision = readable(row.currentRevision);
    out.revision = readable(row.shown.id);
    out.number = row.shown.number;
    out.digest = row.shown.digest ? row.shown.digest->text() : std::string();
    out.fileCount = row.shown.fileCount;
    out.sizeBytes = row.shown.sizeBytes;
    out.lints = readProblems(row.shown.lints);
    out.ignored = readStrings(row.shown.ignored);
    out.requiresExecution = row.shown.requiresExecution;
    out.validationStatus = statusOf(out.lints);
    out.createdAt = row.createdAt;
    out.updatedAt = row.updatedAt;
    out.etag = rowTag(row.version, row.updatedAt);
    return out;
}

store::ShownRevision makeShown(const store::RevisionRow& revision)
{
    return {revision.id,        revision.number, revision.digest,  revision.fileCount,
            revision.sizeBytes, revision.lints,  revision.ignored, revision.requiresExecution};
}

contract::Revision makeRevision(const store::RevisionRow& row, const store::SkillRow& skill)
{
    contract::Revision out;
    out.id = row.id;
    out.number = row.number;
    out.digest = row.digest ? row.digest->text() : std::string();
    out.fileCount = row.fileCount;
    out.sizeBytes = row.sizeBytes;
    out.lints = readProblems(row.lints);
    out.validationStatus = statusOf(out.lints);
    out.requiresExecution = row.requiresExecution;
    out.description = readable(row.description);
    out.note = readable(row.note);
    out.publisher = readable(row.publisher);
    out.state = stateOf(row, skill);
    out.withdrawnReason = readable(row.withdrawnReason);
    out.createdAt = row.createdAt;
    return out;
}

} // namespace assay::registry
