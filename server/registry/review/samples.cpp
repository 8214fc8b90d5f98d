// SPDX-License-Identifier: Apache-2.0
#include "server/registry/review/samples.h"

#include "server/contract/codec.h"
#include "server/core/ids.h"
#include "server/core/json.h"
#include "server/registry/path_rules.h"
#include "server/registry/precondition.h"
#include "server/registry/skill_lookup.h"

#include <algorithm>
#include <format>

namespace assay::review {

using store::Connection;
using store::SampleRow;
using store::SampleTable;

namespace {

std::unexpected<Error> noSample() { return fail(ErrorCode::NotFound, "the skill has no sample of this name"); }
std::unexpected<Error> noComparison() { return fail(ErrorCode::NotFound, "the skill has no comparison of this id"); }

/// What no run could take is not saved: a check that needs the sample would wait for it for ever.
Result<void> checkPaths(const contract::SampleInput& input)
{
    if (const auto script = registry::judgePath(input.script); !script.code.empty())
        return failAt("/script", "a script is named by its path in the package: " + script.message);
    for (const auto& [path, text] : input.files)
        if (const auto file = registry::judgePath(path); !file.code.empty())
            return failAt("/files/" + pointerToken(path),
                          "a file is named by its path below /workspace: " + file.message);
    return {};
}

Result<void> checkName(std::string_view name)
{
    constexpr std::size_t kMaxNameBytes = 64;
    const auto isAllowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    if (name.empty() || name.size() > kMaxNameBytes || name.starts_with('-') || name.ends_with('-') ||
        name.contains("--") || !std::ranges::all_of(name, isAllowed))
        return fail(ErrorCode::InvalidArgument,
                    "a sample's name is 1 to 64 of a-z, 0-9 and -, without an edge or double hyphen");
    return {};
}

audit::Record rowOf(const auth::Identity& by, audit::Operation operation, std::string_view skill)
{
    return audit::recordBy(by, operation, audit::Decision::Allowed, audit::ResourceType::Skill, std::string(skill));
}

Result<void> checkRoom(SampleTable& table, std::string_view scope, std::string_view skill)
{
    auto all = table.list(scope, skill);
    if (!all)
        return forward(all);
    if (all->size() >= Samples::kMaxSamples)
        return fail(ErrorCode::Conflict,
                    std::format("a skill has at most {} samples; delete one first", Samples::kMaxSamples));
    return {};
}

} // namespace

Result<SavedSample> makeSample(const SampleRow& row)
{
    auto form = parseJson(row.definition);
    if (!form)
        return fail(ErrorCode::Internal, "a stored sample is damaged; save it again", row.name);
    auto read = contract::readPutSample(*form);
    if (!read)
        return fail(ErrorCode::Internal, "a stored sample is damaged; save it again", row.name);
    contract::Sample sample{row.name,
                            std::move(read->input),
                            std::move(read->expect),
                            row.author,
                            row.createdAt,
                            row.updatedAt,
                            registry::rowTag(row.version, row.updatedAt)};
    return SavedSample{std::move(sample), row.version};
}

Result<std::vector<SavedSample>> Samples::saved(const auth::Identity& by, std::string_view skill)
{
    return m_database.read([&](Connection& connection) -> Result<std::vector<SavedSample>> {
        if (auto found = registry::requireSkill(connection, by.scopeFingerprint, skill); !found)
            return forward(found);
        auto rows = SampleTable(connection).list(by.scopeFingerprint, skill);
        if (!rows)
            return forward(rows);
        std::vector<SavedSample> out;
        for (const SampleRow& row : *rows) {
            auto sample = makeSample(row);
            if (!sample)
                return forward(sample);
            out.push_back(std::move(*sample));
        }
        return out;
    });
}

Result<std::vector<contract::Sample>> Samples::list(const auth::Identity& by, std::string_view skill)
{
    auto all = saved(by, skill);
    if (!all)
        return forward(all);
    std::vector<contract::Sample> out;
    for (SavedSample& each : *all)
        out.push_back(std::move(each.sample));
    return out;
}

Result<contract::Sample> Samples::find(const auth::Identity& by, std::string_view skill, std::string_view name)
{
    return m_database.read([&](Connection& connection) -> Result<contract::Sample> {
        if (auto found = registry::requireSkill(connection, by.scopeFingerprint, skill); !found)
            return forward(found);
        auto row = SampleTable(connection).find(by.scopeFingerprint, skill, name);
        if (!row)
            return forward(row);
        if (!*row)
            return noSample();
        auto sample = makeSample(**row);
        return sample ? Result<contract::Sample>(std::move(sample->sample)) : forward(sample);
    });
}

Result<Samples::Saved> Samples::put(const auth::Identity& by, std::string_view skill, std::string_view name,
                                    const contract::PutSample& sample, bool createOnly,
                                    const std::optional<std::string>& ifMatch)
{
    if (auto checked = checkName(name); !checked)
        return forward(checked);
    if (auto checked = checkPaths(sample.input); !checked)
        return forward(checked);
    const std::string definition = json::serialize(contract::sampleForm(sample.input, sample.expect));
    if (definition.size() > kMaxBytes)
        return fail(ErrorCode::InvalidArgument,
                    std::format("the sample has {} bytes as JSON; the limit is {}", definition.size(), kMaxBytes));
    const std::string_view scope = by.scopeFingerprint;
    return m_database.write([&, now = m_clock.now()](Connection& connection) -> Result<Saved> {
        if (auto found = registry::requireSkill(connection, scope, skill); !found)
            return forward(found);
        SampleTable table(connection);
        auto present = table.find(scope, skill, name);
        if (!present)
            return forward(present);
        const bool isThere = present->has_value();
        if (isThere && createOnly)
            return fail(ErrorCode::PreconditionFailed, "the skill has a sample of this name");
        if (auto matches = registry::checkIfMatch(
                ifMatch,
                isThere ? std::optional(registry::rowTag((*present)->version, (*present)->updatedAt)) : std::nullopt);
            !matches)
            return forward(matches);
        if (auto room = isThere ? Result<void>() : checkRoom(table, scope, skill); !room)
            return forward(room);
        SampleRow row = isThere ? **present : SampleRow{std::string(name), 0, by.principal, now, now, {}};
        if (row.definition != definition) {
            row.definition = definition;
            row.updatedAt = now;
            ++row.version;
            auto saved = table.put(scope, skill, row);
            if (saved)
                saved = m_ledger.append(connection, rowOf(by, audit::Operation::SamplePut, skill));
            if (!saved)
                return forward(saved);
        }
        auto made = makeSample(row);
        if (!made)
            return forward(made);
        return Saved{std::move(made->sample), !isThere};
    });
}

Result<void> Samples::remove(const auth::Identity& by, std::string_view skill, std::string_view name,
                             const std::optional<std::string>& ifMatch)
{
    const std::string_view scope = by.scopeFingerprint;
    return m_database.write([&](Connection& connection) -> Result<void> {
        if (auto found = registry::requireSkill(connection, scope, skill); !found)
            return forward(found);
        SampleTable table(connection);
        auto row = table.find(scope, skill, name);
        if (!row)
            return forward(row);
        if (!*row)
            return noSample();
        if (auto matches = registry::checkIfMatch(ifMatch, registry::rowTag((*row)->version, (*row)->updatedAt));
            !matches)
            return matches;
        auto removed = table.remove(scope, skill, name);
        if (!removed)
            return forward(removed);
        return m_ledger.append(connection, rowOf(by, audit::Operation::SampleDelete, skill));
    });
}

Result<void> Samples::ran(const auth::Identity& by, std::string_view skill, const Digest& digest,
                          const SavedSample& sample, std::string_view run)
{
    return m_database.write([&](Connection& connection) -> Result<void> {
        SampleTable table(connection);
        const auto present = table.find(by.scopeFingerprint, skill, sample.sample.name);
        if (!present)
            return std::unexpected(present.error());
        // Changed, or saved anew, since the run began: it proves nothing of what is there now.
        if (!*present || registry::rowTag((*present)->version, (*present)->updatedAt) != sample.sample.etag)
            return {};
        return table.addRun(
            by.scopeFingerprint, skill,
            {digest, sample.sample.name, std::string(run), sample.version, by.principal, m_clock.now()});
    });
}

Result<void> Samples::addComparison(const auth::Identity& by, const store::ComparisonRow& row)
{
    return m_database.write(
        [&](Connection& connection) { return SampleTable(connection).insert(by.scopeFingerprint, row); });
}

Result<store::ComparisonRow> Samples::comparison(const auth::Identity& by, std::string_view skill, std::string_view id)
{
    return m_database.read([&](Connection& connection) -> Result<store::ComparisonRow> {
        if (auto found = registry::requireSkill(connection, by.scopeFingerprint, skill); !found)
            return forward(found);
        if (!isId(id, "cmp_"))
            return noComparison();
        auto row = SampleTable(connection).comparison(by.scopeFingerprint, id);
        if (!row)
            return forward(row);
        if (!*row || (*row)->skill != skill)
            return noComparison();
        return std::move(**row);
    });
}

} // namespace assay::review
