// SPDX-License-Identifier: Apache-2.0
#include "server/registry/review/scope_settings.h"

#include "server/registry/precondition.h"
#include "server/registry/stored_form.h"
#include "server/store/retention_table.h"
#include "server/store/scope_settings_table.h"

#include <algorithm>
#include <format>

namespace assay::review {

namespace {

std::optional<std::uint64_t> daysOf(const std::optional<std::int64_t>& stored)
{
    return stored ? std::optional(static_cast<std::uint64_t>(*stored)) : std::nullopt;
}

std::optional<std::int64_t> storedOf(const std::optional<std::uint64_t>& days)
{
    return days ? std::optional(static_cast<std::int64_t>(*days)) : std::nullopt;
}

contract::RetentionDays daysOf(const store::RetentionRow& row)
{
    return {
        .runs = daysOf(row.runsDays), .artifacts = daysOf(row.artifactsDays), .revisions = daysOf(row.revisionsDays)};
}

store::RetentionRow storedOf(const contract::RetentionDays& days)
{
    return {.runsDays = storedOf(days.runs),
            .artifactsDays = storedOf(days.artifacts),
            .revisionsDays = storedOf(days.revisions)};
}

contract::ScopeSettings settingsOf(std::string_view fingerprint, const std::optional<store::ScopeSettingsRow>& row,
                                   const contract::RetentionDays& retention)
{
    contract::ScopeSettings out;
    out.fingerprint = fingerprint;
    out.requiredChecks = {"package_valid", "capabilities_reviewed"};
    out.retention = retention;
    out.etag = registry::rowTag(0, {});
    if (!row)
        return out;
    out.promotionMode = row->promotionMode;
    out.requiredChecks = registry::readStrings(row->requiredChecks);
    out.requiredApprovals = row->requiredApprovals;
    out.updatedAt = row->updatedAt;
    out.updatedBy = row->updatedBy;
    out.etag = registry::rowTag(row->version, row->updatedAt);
    return out;
}

bool apply(contract::ScopeSettings& settings, const contract::PatchScope& patch)
{
    const contract::ScopeSettings before = settings;
    settings.promotionMode = patch.promotionMode.value_or(settings.promotionMode);
    settings.requiredChecks = patch.requiredChecks.value_or(settings.requiredChecks);
    settings.requiredApprovals = patch.requiredApprovals.value_or(settings.requiredApprovals);
    settings.retention.runs = patch.retention.runs.value_or(settings.retention.runs);
    settings.retention.artifacts = patch.retention.artifacts.value_or(settings.retention.artifacts);
    settings.retention.revisions = patch.retention.revisions.value_or(settings.retention.revisions);
    return settings.retention != before.retention || settings.promotionMode != before.promotionMode ||
           settings.requiredChecks != before.requiredChecks || settings.requiredApprovals != before.requiredApprovals;
}

} // namespace

bool isFingerprint(std::string_view text)
{
    constexpr std::size_t kHexDigits = 32;
    return text.starts_with("sc_") && text.size() == kHexDigits + 3 &&
           std::ranges::all_of(text.substr(3), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Result<contract::ScopeSettings> scopeSettings(store::Connection& connection, std::string_view fingerprint)
{
    auto row = store::ScopeSettingsTable(connection).find(fingerprint);
    if (!row)
        return forward(row);
    const auto days = store::RetentionTable(connection).find(fingerprint);
    if (!days)
        return std::unexpected(days.error());
    return settingsOf(fingerprint, *row, daysOf(*days));
}

Result<contract::ScopeSettings> ScopeSettings::find(std::string_view fingerprint)
{
    if (!isFingerprint(fingerprint))
        return fail(ErrorCode::NotFound, "this is no scope's fingerprint: sc_ and 32 lower-case hex digits");
    return m_database.read([&](store::Connection& connection) { return scopeSettings(connection, fingerprint); });
}

Result<void> ScopeSettings::checkKnown(const contract::PatchScope& patch) const
{
    if (!patch.requiredChecks)
        return {};
    const auto& wanted = *patch.requiredChecks;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::string pointer = std::format("/required_checks/{}", i);
        std::string known;
        for (const std::string& id : m_checks.ids())
            known += (known.empty() ? "" : ", ") + id;
        if (!m_checks.has(wanted[i]))
            return failAt(pointer, "this server has no such check; it has " + known);
        if (std::ranges::find(wanted, wanted[i]) != wanted.begin() + static_cast<std::ptrdiff_t>(i))
            return failAt(pointer, "this check stands twice in the list");
    }
    return {};
}

Result<contract::ScopeSettings> ScopeSettings::patch(const auth::Identity& by, std::string_view fingerprint,
                                                     const contract::PatchScope& patch,
                                                     const std::optional<std::string>& ifMatch)
{
    if (auto known = checkKnown(patch); !known)
        return forward(known);
    if (auto exists = find(fingerprint); !exists)
        return exists;
    return m_database.write([&, now = m_clock.now()](store::Connection& connection) -> Result<contract::ScopeSettings> {
        store::ScopeSettingsTable table(connection);
        auto row = table.find(fingerprint);
        if (!row)
            return forward(row);
        const auto days = store::RetentionTable(connection).find(fingerprint);
        if (!days)
            return std::unexpected(days.error());
        contract::ScopeSettings settings = settingsOf(fingerprint, *row, daysOf(*days));
        if (auto matches = registry::checkIfMatch(ifMatch, settings.etag); !matches)
            return forward(matches);
        if (!apply(settings, patch))
            return settings;
        const store::ScopeSettingsRow changed{(*row ? (*row)->version : 0) + 1,
                                              settings.promotionMode,
                                              registry::writeStrings(settings.requiredChecks),
                                              settings.requiredApprovals,
                                              now,
                                              by.principal};
        auto saved = table.put(fingerprint, changed);
        if (saved)
            saved = store::RetentionTable(connection).put(fingerprint, storedOf(settings.retention));
        if (saved) {
            // In the chain of the scope that it is about: its reviewers read it there.
            auto record = audit::recordBy(by, audit::Operation::ScopeConfigure, audit::Decision::Allowed,
                                          audit::ResourceType::Server, {});
            record.scopeFingerprint = fingerprint;
            saved = m_ledger.append(connection, record);
        }
        if (!saved)
            return forward(saved);
        return settingsOf(fingerprint, changed, settings.retention);
    });
}

} // namespace assay::review
