// SPDX-License-Identifier: Apache-2.0
#include "server/registry/skill_lookup.h"

#include "server/registry/precondition.h"

namespace assay::registry {

Result<store::SkillRow> requireSkill(store::Connection& connection, std::string_view scope, std::string_view name)
{
    auto row = store::SkillTable(connection).find(scope, name);
    if (!row)
        return forward(row);
    if (!*row || (*row)->deletedAt)
        return fail(ErrorCode::NotFound, "there is no skill of this name");
    return std::move(**row);
}

Result<store::SkillRow> requireMatching(store::Connection& connection, std::string_view scope, std::string_view name,
                                        const std::optional<std::string>& ifMatch)
{
    auto row = requireSkill(connection, scope, name);
    if (!row)
        return row;
    if (auto matches = checkIfMatch(ifMatch, rowTag(row->version, row->updatedAt)); !matches)
        return forward(matches);
    return row;
}

Result<store::RevisionRow> requireRevision(store::Connection& connection, std::string_view scope,
                                           const store::SkillRow& skill, std::string_view revision,
                                           store::WithFiles files)
{
    const std::string_view id = revision == "current" ? std::string_view(skill.currentRevision) : revision;
    auto row = store::RevisionTable(connection).find(scope, skill.name, id, files);
    if (!row)
        return forward(row);
    if (!*row)
        return fail(ErrorCode::NotFound, "the skill has no such revision");
    return std::move(**row);
}

} // namespace assay::registry
