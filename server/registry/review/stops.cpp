// SPDX-License-Identifier: Apache-2.0
#include "server/registry/review/stops.h"

#include "server/store/page_token.h"
#include "server/store/stop_table.h"

namespace assay::review {

namespace {

contract::Stop makeStop(const store::StopRow& row)
{
    return {row.digest.text(), row.reason, row.stoppedBy, row.stoppedAt};
}

/// In the server's own chain: a stop is of every scope.
audit::Record rowOf(const auth::Identity& by, audit::Operation operation, const Digest& digest)
{
    auto record = audit::recordBy(by, operation, audit::Decision::Allowed, audit::ResourceType::Content, digest.text());
    record.scopeFingerprint.clear();
    return record;
}

std::unexpected<Error> noStop() { return fail(ErrorCode::NotFound, "this digest is not stopped"); }

} // namespace

Result<contract::Stop> Stops::add(const auth::Identity& by, const contract::NewStop& stop)
{
    const auto digest = Digest::parse(stop.digest);
    if (!digest)
        return failAt("/digest", "this must be sha256: and 64 lower-case hex digits");
    const store::StopRow row{*digest, stop.reason, by.principal, m_clock.now()};
    return m_database.write([&](store::Connection& connection) -> Result<contract::Stop> {
        store::StopTable table(connection);
        auto present = table.find(*digest);
        if (!present)
            return forward(present);
        if (*present)
            return fail(ErrorCode::Conflict, "this digest is stopped already: " + (*present)->reason);
        auto added = table.insert(row);
        if (added)
            added = m_ledger.append(connection, rowOf(by, audit::Operation::ContentStop, *digest));
        if (!added)
            return forward(added);
        return makeStop(row);
    });
}

Result<contract::Page<contract::Stop>> Stops::list(const contract::PageRequest& page)
{
    const store::ListIdentity identity{"stops", "", {}};
    auto cursor = store::readPageToken(identity, page.token);
    if (!cursor)
        return forward(cursor);
    std::optional<Digest> after;
    if (!cursor->empty()) {
        auto digest = Digest::parse(*cursor);
        if (!digest)
            return failAt("/page_token", "the page token does not belong to this list; begin again without one");
        after = *digest;
    }
    return m_database.read([&](store::Connection& connection) -> Result<contract::Page<contract::Stop>> {
        auto rows = store::StopTable(connection).list(after, page.size + 1);
        if (!rows)
            return forward(rows);
        contract::Page<contract::Stop> out;
        if (rows->size() > page.size) {
            rows->pop_back();
            out.nextPageToken = store::makePageToken(identity, rows->back().digest.text());
        }
        for (const store::StopRow& row : *rows)
            out.items.push_back(makeStop(row));
        return out;
    });
}

Result<contract::Stop> Stops::find(std::string_view digest)
{
    const auto parsed = Digest::parse(digest);
    if (!parsed)
        return noStop();
    return m_database.read([&](store::Connection& connection) -> Result<contract::Stop> {
        auto row = store::StopTable(connection).find(*parsed);
        if (!row)
            return forward(row);
        return *row ? Result<contract::Stop>(makeStop(**row)) : noStop();
    });
}

Result<void> Stops::remove(const auth::Identity& by, std::string_view digest)
{
    const auto parsed = Digest::parse(digest);
    if (!parsed)
        return noStop();
    return m_database.write([&](store::Connection& connection) -> Result<void> {
        auto removed = store::StopTable(connection).remove(*parsed);
        if (!removed)
            return forward(removed);
        if (!*removed)
            return noStop();
        return m_ledger.append(connection, rowOf(by, audit::Operation::ContentResume, *parsed));
    });
}

} // namespace assay::review
