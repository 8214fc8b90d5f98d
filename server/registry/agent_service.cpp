// SPDX-License-Identifier: Apache-2.0
#include "server/registry/agent_service.h"

#include "server/core/ids.h"
#include "server/registry/agent_form.h"
#include "server/registry/agent_rules.h"
#include "server/registry/precondition.h"
#include "server/registry/skill_rules.h"
#include "server/registry/stored_form.h"
#include "server/store/agent_table.h"
#include "server/store/page_token.h"
#include "server/store/revision_table.h"
#include "server/store/skill_table.h"

#include <charconv>

namespace assay::registry {

using store::AgentRevisionRow;
using store::AgentRow;
using store::AgentTable;
using store::Connection;

namespace {

std::unexpected<Error> noAgent() { return fail(ErrorCode::NotFound, "there is no agent of this name"); }

std::optional<std::string> tagOf(const std::optional<AgentRow>& row)
{
    if (!row || row->deletedAt)
        return std::nullopt;
    return rowTag(row->version, row->updatedAt);
}

Result<AgentRow> requireAgent(Connection& connection, std::string_view scope, std::string_view name)
{
    auto row = AgentTable(connection).find(scope, name);
    if (!row)
        return forward(row);
    if (!*row || (*row)->deletedAt)
        return noAgent();
    return std::move(**row);
}

std::vector<Problem> warn(std::vector<Problem> warnings, std::size_t index, const std::string& skill)
{
    warnings.push_back({.code = "execution_off",
                        .message = "the skill \"" + skill + "\" requires execution, but this agent's execution is off",
                        .pointer = "/skills/" + std::to_string(index)});
    return warnings;
}

// The skills must exist now; what is deleted later refuses the run.
Result<std::vector<Problem>> judgeSkills(Connection& connection, std::string_view scope,
                                         const contract::AgentDefinition& definition)
{
    std::vector<Problem> warnings;
    for (std::size_t i = 0; i < definition.skills.size(); ++i) {
        const std::string& name = definition.skills[i];
        auto skill = store::SkillTable(connection).find(scope, name);
        if (!skill)
            return forward(skill);
        if (!*skill || (*skill)->deletedAt)
            return failAt("/skills/" + std::to_string(i), "there is no skill named \"" + name + "\"; publish it first");
        if (definition.execution != "off")
            continue;
        if ((*skill)->shown.requiresExecution)
            warnings = warn(std::move(warnings), i, name);
    }
    return warnings;
}

contract::Agent makeAgent(const AgentRow& row, const AgentRevisionRow& revision, contract::AgentDefinition definition)
{
    contract::Agent out;
    out.definition = std::move(definition);
    out.revision = revision.id;
    out.number = revision.number;
    out.digest = revision.digest ? revision.digest->text() : std::string();
    out.createdAt = row.createdAt;
    out.updatedAt = row.updatedAt;
    out.etag = rowTag(row.version, row.updatedAt);
    return out;
}

// A definition that cannot be read keeps its place in a listing, with nothing in it but its name.
contract::Agent makeAgentOrStub(const AgentRow& row, const AgentRevisionRow& revision)
{
    auto definition = readDefinition(revision.definition);
    const bool isDamaged = !definition;
    contract::Agent out = makeAgent(row, revision, std::move(definition).value_or(contract::AgentDefinition{}));
    out.definition.name = row.name;
    if (isDamaged)
        out.warnings.push_back({.code = "stored_row_damaged",
                                .message = "the stored definition cannot be read; save "
                                           "the agent again"});
    return out;
}

Result<AgentRevisionRow> currentRevision(Connection& connection, std::string_view scope, const AgentRow& row)
{
    auto revision = AgentTable(connection).findRevision(scope, row.name, row.number);
    if (!revision)
        return forward(revision);
    return std::move(*revision).value_or(AgentRevisionRow{.number = row.number, .id = row.revision});
}

Result<void> addRevision(Connection& connection, const auth::Identity& by, AgentRow& row, AgentRevisionRow& revision,
                         Timestamp now)
{
    revision.number = row.number + 1;
    revision.id = newId("rev_", now);
    revision.publisher = by.principal;
    revision.createdAt = now;
    ++row.version;
    row.revision = revision.id;
    row.number = revision.number;
    row.updatedAt = now;
    row.deletedAt.reset();
    auto saved = AgentTable(connection).put(by.scopeFingerprint, row);
    return saved ? AgentTable(connection).insertRevision(by.scopeFingerprint, row.name, revision) : saved;
}

audit::Record changeOf(const auth::Identity& by, audit::Operation operation, const std::string& agent)
{
    return audit::recordBy(by, operation, audit::Decision::Allowed, audit::ResourceType::Agent, agent);
}

Result<std::uint64_t> readNumber(const std::string& cursor)
{
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), number);
    if (!cursor.empty() && (error != std::errc() || end != cursor.data() + cursor.size() || number > INT64_MAX))
        return failAt("/page_token", "the page token does not belong to this list; begin again without one");
    return number;
}

} // namespace

AgentService::AgentService(store::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}

Result<AgentService::Saved> AgentService::save(const auth::Identity& by, contract::AgentDefinition definition,
                                               bool createOnly, const std::optional<std::string>& ifMatch)
{
    if (auto checked = checkDefinition(definition); !checked)
        return forward(checked);
    AgentRevisionRow revision;
    revision.definition = writeDefinition(definition);
    revision.digest = Digest::ofBytes(revision.definition);
    const std::string_view scope = by.scopeFingerprint;
    return m_database.write([&, now = m_clock.now()](Connection& connection) -> Result<Saved> {
        auto existing = AgentTable(connection).find(scope, definition.name);
        if (!existing)
            return forward(existing);
        const auto tag = tagOf(*existing);
        if (tag && createOnly)
            return fail(ErrorCode::Conflict, "an agent named \"" + definition.name +
                                                 "\" exists; replace it with PUT, or choose another name");
        if (auto matches = checkIfMatch(ifMatch, tag); !matches)
            return forward(matches);
        auto warnings = judgeSkills(connection, scope, definition);
        if (!warnings)
            return forward(warnings);
        AgentRow row = (*existing).value_or(AgentRow{.name = definition.name, .createdAt = now});
        if (!tag)
            row.createdAt = now;
        if (tag) {
            auto current = currentRevision(connection, scope, row);
            if (!current)
                return forward(current);
            if (current->digest == revision.digest) {
                Saved same{makeAgent(row, *current, definition), false};
                same.agent.warnings = std::move(*warnings);
                return same;
            }
        }
        auto added = addRevision(connection, by, row, revision, now);
        if (added)
            added = m_ledger.append(
                connection,
                changeOf(by, tag ? audit::Operation::AgentReplace : audit::Operation::AgentCreate, row.name));
        if (!added)
            return forward(added);
        Saved out{makeAgent(row, revision, definition), !tag};
        out.agent.warnings = std::move(*warnings);
        return out;
    });
}

Result<contract::Page<contract::Agent>> AgentService::list(const auth::Identity& by, const contract::PageRequest& page)
{
    if (auto checked = checkPage(page); !checked)
        return forward(checked);
    const std::string_view scope = by.scopeFingerprint;
    const store::ListIdentity identity{"agents", scope, {}};
    auto cursor = store::readPageToken(identity, page.token);
    if (!cursor)
        return forward(cursor);
    return m_database.read([&](Connection& connection) -> Result<contract::Page<contract::Agent>> {
        auto listed = AgentTable(connection).list(scope, *cursor, page.size);
        if (!listed)
            return forward(listed);
        contract::Page<contract::Agent> out;
        for (const AgentRow& row : listed->rows) {
            auto revision = currentRevision(connection, scope, row);
            if (!revision)
                return forward(revision);
            out.items.push_back(makeAgentOrStub(row, *revision));
        }
        if (listed->more)
            out.nextPageToken = store::makePageToken(identity, *listed->more);
        return out;
    });
}

Result<contract::Agent> AgentService::find(const auth::Identity& by, std::string_view name)
{
    const std::string_view scope = by.scopeFingerprint;
    return m_database.read([&](Connection& connection) -> Result<contract::Agent> {
        auto row = requireAgent(connection, scope, name);
        if (!row)
            return forward(row);
        auto revision = currentRevision(connection, scope, *row);
        if (!revision)
            return forward(revision);
        // Whoever runs an agent must not get an emptied one.
        auto definition = readDefinition(revision->definition);
        if (!definition)
            return forward(definition);
        auto warnings = judgeSkills(connection, scope, *definition);
        contract::Agent out = makeAgent(*row, *revision, std::move(*definition));
        if (warnings)
            out.warnings = std::move(*warnings);
        return out;
    });
}

Result<contract::Page<contract::Agent>> AgentService::revisions(const auth::Identity& by, std::string_view name,
                                                                const contract::PageRequest& page)
{
    if (auto checked = checkPage(page); !checked)
        return forward(checked);
    const std::string_view scope = by.scopeFingerprint;
    const store::ListIdentity identity{"agent_revisions", scope, {name}};
    auto cursor = store::readPageToken(identity, page.token);
    if (!cursor)
        return forward(cursor);
    const auto before = readNumber(*cursor);
    if (!before)
        return std::unexpected(before.error());
    return m_database.read([&](Connection& connection) -> Result<contract::Page<contract::Agent>> {
        auto agent = requireAgent(connection, scope, name);
        if (!agent)
            return forward(agent);
        auto rows = AgentTable(connection).listRevisions(scope, name, *before, page.size + 1);
        if (!rows)
            return forward(rows);
        contract::Page<contract::Agent> out;
        if (rows->size() > page.size) {
            rows->pop_back();
            out.nextPageToken = store::makePageToken(identity, std::to_string(rows->back().number));
        }
        for (const AgentRevisionRow& row : *rows) {
            AgentRow then = *agent;
            then.createdAt = then.updatedAt = row.createdAt;
            out.items.push_back(makeAgentOrStub(then, row));
        }
        return out;
    });
}

Result<void> AgentService::remove(const auth::Identity& by, std::string_view name,
                                  const std::optional<std::string>& ifMatch)
{
    const std::string_view scope = by.scopeFingerprint;
    return m_database.write([&, now = m_clock.now()](Connection& connection) -> Result<void> {
        auto row = requireAgent(connection, scope, name);
        if (!row)
            return forward(row);
        if (auto matches = checkIfMatch(ifMatch, tagOf(*row)); !matches)
            return matches;
        ++row->version;
        row->updatedAt = now;
        row->deletedAt = now;
        if (auto saved = AgentTable(connection).put(scope, *row); !saved)
            return saved;
        return m_ledger.append(connection, changeOf(by, audit::Operation::AgentDelete, row->name));
    });
}

} // namespace assay::registry
