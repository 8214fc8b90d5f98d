// SPDX-License-Identifier: Apache-2.0
#include "server/store/promotion_table.h"

#include <limits>

namespace assay::store {

namespace {

#define ASSAY_PROMOTION_COLUMNS                                                                                        \
    "sequence, at, actor, via, from_revision, from_number, to_revision, to_number, to_digest, reason"

PromotionRow readRow(const Statement& row)
{
    PromotionRow out;
    out.sequence = static_cast<std::uint64_t>(row.integer(0));
    out.at = row.timestamp(1);
    out.actor = row.text(2);
    out.via = row.text(3);
    out.fromRevision = row.text(4);
    out.fromNumber = static_cast<std::uint64_t>(row.integer(5));
    out.toRevision = row.text(6);
    out.toNumber = static_cast<std::uint64_t>(row.integer(7));
    if (auto digest = Digest::fromBytes(row.blob(8)))
        out.toDigest = *digest;
    out.reason = row.text(9);
    return out;
}

} // namespace

Result<void> PromotionTable::insert(std::string_view fingerprint, std::string_view skill, const PromotionRow& row)
{
    auto query = m_connection.prepare("INSERT INTO promotions(fingerprint, skill, " ASSAY_PROMOTION_COLUMNS
                                      ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(skill).bind(static_cast<std::int64_t>(row.sequence)).bind(row.at).bind(row.actor);
    query->bind(row.via).bind(row.fromRevision).bind(static_cast<std::int64_t>(row.fromNumber)).bind(row.toRevision);
    query->bind(static_cast<std::int64_t>(row.toNumber));
    return query->bindBlob(row.toDigest ? row.toDigest->bytes() : std::string_view()).bind(row.reason).run();
}

Result<std::vector<PromotionRow>> PromotionTable::list(std::string_view fingerprint, std::string_view skill,
                                                       std::uint64_t beforeSequence, std::uint32_t limit)
{
    auto query = m_connection.prepare("SELECT " ASSAY_PROMOTION_COLUMNS
                                      " FROM promotions WHERE fingerprint = ? AND skill = ? AND sequence < ?"
                                      " ORDER BY sequence DESC LIMIT ?");
    if (!query)
        return forward(query);
    constexpr std::int64_t kNewest = std::numeric_limits<std::int64_t>::max();
    query->bind(fingerprint).bind(skill);
    query->bind(beforeSequence == 0 ? kNewest : static_cast<std::int64_t>(beforeSequence)).bind(std::int64_t{limit});
    std::vector<PromotionRow> out;
    for (;;) {
        const auto found = query->step();
        if (!found)
            return std::unexpected(found.error());
        if (!*found)
            return out;
        out.push_back(readRow(*query));
    }
}

Result<std::optional<PromotionRow>> PromotionTable::at(std::string_view fingerprint, std::string_view skill,
                                                       Timestamp time)
{
    auto query = m_connection.prepare("SELECT " ASSAY_PROMOTION_COLUMNS
                                      " FROM promotions WHERE fingerprint = ? AND skill = ? AND at <= ?"
                                      " ORDER BY sequence DESC LIMIT 1");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(skill).bind(time).step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(readRow(*query)) : std::nullopt;
}

} // namespace assay::store
