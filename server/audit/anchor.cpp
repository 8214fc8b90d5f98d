// SPDX-License-Identifier: Apache-2.0
#include "server/audit/anchor.h"

namespace assay::audit {

using store::Statement;

namespace {

constexpr std::string_view kAnchorTag = "assay-ledger-anchor-v1\n";
constexpr std::string_view kLinkTag = "assay-ledger-link-v1\n";

#define ASSAY_ANCHOR_COLUMNS "number, fingerprint, seq, at, row_hash, signature, link, link_signature, key_id"

Anchor readAnchor(const Statement& query)
{
    return {.fingerprint = std::string(query.text(1)),
            .seq = query.integer(2),
            .at = query.timestamp(3),
            .rowHash = Digest::fromBytes(query.blob(4)).value_or(Digest()),
            .keyId = std::string(query.text(8)),
            .signature = std::string(query.blob(5)),
            .number = query.integer(0),
            .link = Digest::fromBytes(query.blob(6)).value_or(Digest()),
            .linkSignature = std::string(query.blob(7))};
}

Result<std::optional<Anchor>> one(Statement& query)
{
    const auto found = query.step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(readAnchor(query)) : std::nullopt;
}

} // namespace

std::string anchorMessage(const Anchor& anchor)
{
    std::string out(kAnchorTag);
    appendField(out, anchor.fingerprint);
    appendField(out, std::to_string(anchor.seq));
    appendField(out, std::to_string(anchor.at.time_since_epoch().count()));
    appendField(out, anchor.rowHash.bytes());
    return out;
}

Digest linkOf(const Digest& previous, const Anchor& anchor)
{
    std::string fields;
    appendField(fields, std::to_string(anchor.number));
    appendField(fields, anchorMessage(anchor));
    return Sha256().update(kLinkTag).update(previous.bytes()).update(fields).finish();
}

std::string linkMessage(const Digest& link) { return std::string(kLinkTag) + std::string(link.bytes()); }

Result<void> AnchorTable::insert(const Anchor& anchor)
{
    auto query =
        m_connection.prepare("INSERT INTO ledger_anchors(" ASSAY_ANCHOR_COLUMNS ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!query)
        return forward(query);
    query->bind(anchor.number).bind(anchor.fingerprint).bind(anchor.seq).bind(anchor.at);
    query->bindBlob(anchor.rowHash.bytes()).bindBlob(anchor.signature).bindBlob(anchor.link.bytes());
    query->bindBlob(anchor.linkSignature).bind(anchor.keyId);
    return query->run();
}

Result<std::optional<Anchor>> AnchorTable::newest()
{
    auto query =
        m_connection.prepare("SELECT " ASSAY_ANCHOR_COLUMNS " FROM ledger_anchors ORDER BY number DESC LIMIT 1");
    return query ? one(*query) : Result<std::optional<Anchor>>(forward(query));
}

Result<std::optional<Anchor>> AnchorTable::newestOf(std::string_view fingerprint)
{
    auto query = m_connection.prepare("SELECT " ASSAY_ANCHOR_COLUMNS
                                      " FROM ledger_anchors WHERE fingerprint = ? ORDER BY seq DESC LIMIT 1");
    if (!query)
        return forward(query);
    query->bind(fingerprint);
    return one(*query);
}

Result<std::vector<Anchor>> AnchorTable::between(std::string_view fingerprint, std::int64_t seq, std::int64_t last,
                                                 std::uint32_t limit)
{
    auto query = m_connection.prepare("SELECT " ASSAY_ANCHOR_COLUMNS " FROM ledger_anchors"
                                      " WHERE fingerprint = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(seq).bind(last).bind(std::int64_t{limit});
    return all(*query);
}

Result<std::vector<Anchor>> AnchorTable::after(std::int64_t number, std::uint32_t limit)
{
    auto query = m_connection.prepare("SELECT " ASSAY_ANCHOR_COLUMNS
                                      " FROM ledger_anchors WHERE number > ? ORDER BY number LIMIT ?");
    if (!query)
        return forward(query);
    query->bind(number).bind(std::int64_t{limit});
    return all(*query);
}

Result<std::vector<Anchor>> AnchorTable::all(Statement& query)
{
    std::vector<Anchor> out;
    for (;;) {
        auto next = one(query);
        if (!next)
            return forward(next);
        if (!*next)
            return out;
        out.push_back(std::move(**next));
    }
}

} // namespace assay::audit
