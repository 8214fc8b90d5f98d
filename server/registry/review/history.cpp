// SPDX-License-Identifier: Apache-2.0
#include "server/registry/review/history.h"

#include "server/registry/skill_lookup.h"
#include "server/store/page_token.h"
#include "server/store/promotion_table.h"

#include <charconv>

namespace assay::review {

namespace {

contract::Promotion makePromotion(const store::PromotionRow& row)
{
    contract::Promotion out{row.at, row.actor, row.via, {}, {}, row.reason};
    if (!row.fromRevision.empty())
        out.from = contract::RevisionName{row.fromRevision, row.fromNumber, {}};
    if (!row.toRevision.empty())
        out.to = contract::RevisionName{row.toRevision, row.toNumber, row.toDigest ? row.toDigest->text() : ""};
    return out;
}

Result<std::uint64_t> readSequence(std::string_view cursor)
{
    std::uint64_t out = 0;
    if (cursor.empty())
        return out;
    const auto [end, error] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), out);
    if (error != std::errc() || end != cursor.data() + cursor.size() || out > INT64_MAX)
        return failAt("/page_token", "the page token does not belong to this list; begin again without one");
    return out;
}

} // namespace

Result<contract::Page<contract::Promotion>> History::list(const auth::Identity& by, std::string_view skill,
                                                          const contract::PageRequest& page)
{
    const std::string_view scope = by.scopeFingerprint;
    const store::ListIdentity identity{"promotions", scope, {skill}};
    auto cursor = store::readPageToken(identity, page.token);
    if (!cursor)
        return forward(cursor);
    const auto before = readSequence(*cursor);
    if (!before)
        return std::unexpected(before.error());
    return m_database.read([&](store::Connection& connection) -> Result<contract::Page<contract::Promotion>> {
        if (auto row = registry::requireSkill(connection, scope, skill); !row)
            return forward(row);
        auto rows = store::PromotionTable(connection).list(scope, skill, *before, page.size + 1);
        if (!rows)
            return forward(rows);
        contract::Page<contract::Promotion> out;
        if (rows->size() > page.size) {
            rows->pop_back();
            out.nextPageToken = store::makePageToken(identity, std::to_string(rows->back().sequence));
        }
        for (const store::PromotionRow& row : *rows)
            out.items.push_back(makePromotion(row));
        return out;
    });
}

Result<std::optional<contract::Promotion>> History::at(const auth::Identity& by, std::string_view skill, Timestamp time)
{
    const std::string_view scope = by.scopeFingerprint;
    return m_database.read([&](store::Connection& connection) -> Result<std::optional<contract::Promotion>> {
        if (auto row = registry::requireSkill(connection, scope, skill); !row)
            return forward(row);
        auto row = store::PromotionTable(connection).at(scope, skill, time);
        if (!row)
            return forward(row);
        return *row ? std::optional(makePromotion(**row)) : std::nullopt;
    });
}

} // namespace assay::review
