// SPDX-License-Identifier: Apache-2.0
#include "server/store/proposal_table.h"

namespace assay::store {

namespace {

#define ASSAY_PROPOSAL_COLUMNS                                                                                         \
    "id, skill, revision, number, digest, publisher, base_revision, base_number, base_digest, state, version,"         \
    " approvals, change_requests, comments, unresolved, created_at, updated_at, closed_at, closed_by, reason,"         \
    " superseded_by, note, description"

std::uint64_t count(const Statement& row, int column) { return static_cast<std::uint64_t>(row.integer(column)); }
std::int64_t stored(std::uint64_t value) { return static_cast<std::int64_t>(value); }

ProposalRow readRow(const Statement& row)
{
    ProposalRow out;
    out.id = row.text(0);
    out.skill = row.text(1);
    out.revision = row.text(2);
    out.number = count(row, 3);
    out.digest = Digest::fromBytes(row.blob(4)).value_or(Digest());
    out.publisher = row.text(5);
    out.baseRevision = row.text(6);
    out.baseNumber = count(row, 7);
    if (auto base = Digest::fromBytes(row.blob(8)))
        out.baseDigest = *base;
    out.state = row.text(9);
    out.version = count(row, 10);
    out.approvals = count(row, 11);
    out.changeRequests = count(row, 12);
    out.comments = count(row, 13);
    out.unresolved = count(row, 14);
    out.createdAt = row.timestamp(15);
    out.updatedAt = row.timestamp(16);
    out.closedAt = row.optionalTimestamp(17);
    out.closedBy = row.text(18);
    out.reason = row.text(19);
    out.supersededBy = row.text(20);
    out.note = row.text(21);
    out.description = row.text(22);
    return out;
}

void bindChanging(Statement& query, const ProposalRow& row)
{
    query.bind(row.baseRevision).bind(stored(row.baseNumber));
    query.bindBlob(row.baseDigest ? row.baseDigest->bytes() : std::string_view());
    query.bind(row.state).bind(stored(row.version)).bind(stored(row.approvals)).bind(stored(row.changeRequests));
    query.bind(stored(row.comments)).bind(stored(row.unresolved)).bind(row.updatedAt).bind(row.closedAt);
    query.bind(row.closedBy).bind(row.reason).bind(row.supersededBy);
}

bool isWanted(const ProposalRow& row, const ProposalQuery& query)
{
    if (!query.skill.empty() && row.skill != query.skill)
        return false;
    if (!query.publisher.empty() && row.publisher != query.publisher)
        return false;
    if (query.state == "approved")
        return isApproved(row, query.requiredApprovals);
    if (query.state == "open")
        return row.state == "open" && !isApproved(row, query.requiredApprovals);
    return query.state.empty() || row.state == query.state;
}

} // namespace

bool isApproved(const ProposalRow& row, std::uint64_t requiredApprovals)
{
    return row.state == "open" && row.changeRequests == 0 && row.approvals >= requiredApprovals;
}

Result<void> ProposalTable::insert(std::string_view fingerprint, const ProposalRow& row)
{
    auto query = m_connection.prepare(
        "INSERT INTO proposals(fingerprint, id, skill, revision, number, digest, publisher, created_at, note,"
        " description, base_revision, base_number, base_digest, state, version, approvals, change_requests, comments,"
        " unresolved, updated_at, closed_at, closed_by, reason, superseded_by)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(row.id).bind(row.skill).bind(row.revision).bind(stored(row.number));
    query->bindBlob(row.digest.bytes()).bind(row.publisher).bind(row.createdAt).bind(row.note).bind(row.description);
    bindChanging(*query, row);
    return query->run();
}

Result<void> ProposalTable::update(std::string_view fingerprint, const ProposalRow& row)
{
    auto query = m_connection.prepare(
        "UPDATE proposals SET base_revision = ?, base_number = ?, base_digest = ?, state = ?, version = ?,"
        " approvals = ?, change_requests = ?, comments = ?, unresolved = ?, updated_at = ?, closed_at = ?,"
        " closed_by = ?, reason = ?, superseded_by = ? WHERE fingerprint = ? AND id = ?");
    if (!query)
        return forward(query);
    bindChanging(*query, row);
    return query->bind(fingerprint).bind(row.id).run();
}

Result<std::optional<ProposalRow>> ProposalTable::find(std::string_view fingerprint, std::string_view id)
{
    auto query =
        m_connection.prepare("SELECT " ASSAY_PROPOSAL_COLUMNS " FROM proposals WHERE fingerprint = ? AND id = ?");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(id).step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(readRow(*query)) : std::nullopt;
}

Result<std::optional<ProposalRow>> ProposalTable::openOf(std::string_view fingerprint, std::string_view skill)
{
    auto query = m_connection.prepare("SELECT " ASSAY_PROPOSAL_COLUMNS
                                      " FROM proposals WHERE fingerprint = ? AND skill = ? AND state = 'open'");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(skill).step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(readRow(*query)) : std::nullopt;
}

Result<ProposalTable::Listed> ProposalTable::list(std::string_view fingerprint, const ProposalQuery& wanted)
{
    auto query = m_connection.prepare("SELECT " ASSAY_PROPOSAL_COLUMNS
                                      " FROM proposals WHERE fingerprint = ? AND id < ? ORDER BY id DESC");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(wanted.beforeId.empty() ? std::string_view("~") : std::string_view(wanted.beforeId));
    Listed out;
    std::string last;
    for (std::uint32_t scanned = 0;; ++scanned) {
        const auto found = query->step();
        if (!found)
            return std::unexpected(found.error());
        if (!*found)
            return out;
        if (out.rows.size() == wanted.limit || scanned == kMaxScanned) {
            out.more = std::move(last);
            return out;
        }
        last = query->text(0);
        if (ProposalRow row = readRow(*query); isWanted(row, wanted))
            out.rows.push_back(std::move(row));
    }
}

} // namespace assay::store
