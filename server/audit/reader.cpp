// SPDX-License-Identifier: Apache-2.0
#include "server/audit/reader.h"

#include "server/audit/ledger_table.h"
#include "server/audit/row_entry.h"
#include "server/core/base64.h"
#include "server/core/ids.h"
#include "server/core/text.h"
#include "server/store/page_token.h"

#include <charconv>

namespace assay::audit {

using contract::AuditEntry;
using contract::AuditFilter;
using store::Connection;

namespace {

constexpr std::size_t kMaxActorBytes = 256;
constexpr std::string_view kFormat = "assay-ledger-v1";

/// A filter in the form that page tokens are bound to.
struct FilterTexts
{
    explicit FilterTexts(const AuditFilter& of)
        : filter(of),
          since(of.since ? formatTimestamp(*of.since) : std::string()),
          until(of.until ? formatTimestamp(*of.until) : std::string())
    {}
    store::ListIdentity identity(std::string_view kind, std::string_view fingerprint) const
    {
        return {kind, fingerprint, {filter.decision, filter.operation, filter.actor, filter.run, since, until}};
    }
    const AuditFilter& filter;
    std::string since;
    std::string until;
};

Result<void> checkFilter(const AuditFilter& filter)
{
    if (!filter.decision.empty() && !isDecision(filter.decision))
        return failAt("/decision", "this must be one of allowed, refused, executed, terminated, outcome_unknown");
    if (!filter.operation.empty() && !isOperation(filter.operation))
        return failAt("/operation", "there is no such operation; docs/ledger.md lists them");
    if (filter.actor.size() > kMaxActorBytes)
        return failAt("/actor", "this is over 256 bytes, the limit");
    if (!filter.run.empty() && !isId(filter.run, "run_"))
        return failAt("/run", "this is not the id of a run");
    return {};
}

std::unexpected<Error> badToken()
{
    return failAt("/page_token", "the page token does not belong to this list; begin again without one");
}

/// "at row", both decimal.
std::string cursorOf(const RowQuery::Place& place)
{
    return std::to_string(place.at.time_since_epoch().count()) + ' ' + std::to_string(place.row);
}

std::optional<std::int64_t> number(std::string_view text)
{
    std::int64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

Result<std::optional<RowQuery::Place>> readCursor(const std::string& cursor)
{
    if (cursor.empty())
        return std::optional<RowQuery::Place>();
    const auto blank = cursor.find(' ');
    const auto at = number(std::string_view(cursor).substr(0, blank));
    const auto row = blank == std::string::npos ? std::nullopt : number(std::string_view(cursor).substr(blank + 1));
    if (!at || !row)
        return badToken();
    return RowQuery::Place{Timestamp(std::chrono::milliseconds(*at)), *row};
}

bool matches(const Row& row, const AuditFilter& filter)
{
    return (filter.decision.empty() || row.decision == filter.decision) &&
           (filter.operation.empty() || row.operation == filter.operation) &&
           (filter.actor.empty() || row.actor == filter.actor) && (filter.run.empty() || row.run == filter.run) &&
           (!filter.since || row.at >= *filter.since) && (!filter.until || row.at < *filter.until);
}

void addLine(std::string& out, const json::object& line)
{
    out += json::serialize(line);
    out += '\n';
}

void addRows(std::string& out, const std::vector<Row>& rows, const std::vector<Anchor>& anchors,
             const AuditFilter& filter)
{
    auto anchor = anchors.begin();
    for (const Row& row : rows) {
        if (matches(row, filter))
            addLine(out, contract::toJson(entryOf(row)));
        for (; anchor != anchors.end() && anchor->seq <= row.seq; ++anchor)
            addLine(out, contract::toJson(anchorEntryOf(*anchor)));
    }
}

} // namespace

Result<contract::Page<AuditEntry>> Reader::list(std::string_view fingerprint, const AuditFilter& filter,
                                                const contract::PageRequest& page)
{
    if (auto checked = checkFilter(filter); !checked)
        return forward(checked);
    const FilterTexts texts(filter);
    const auto identity = texts.identity("audit", fingerprint);
    auto cursor = store::readPageToken(identity, page.token);
    if (!cursor)
        return forward(cursor);
    auto before = readCursor(*cursor);
    if (!before)
        return forward(before);
    const RowQuery query{.decision = filter.decision,
                         .operation = filter.operation,
                         .actor = filter.actor,
                         .run = filter.run,
                         .since = filter.since,
                         .until = filter.until,
                         .before = *before,
                         .limit = page.size};
    auto listed =
        m_database.read([&](Connection& connection) { return LedgerTable(connection).list(fingerprint, query); });
    if (!listed)
        return forward(listed);
    contract::Page<AuditEntry> out;
    out.items.reserve(listed->rows.size());
    for (const Row& row : listed->rows)
        out.items.push_back(entryOf(row));
    if (listed->more)
        out.nextPageToken = store::makePageToken(identity, cursorOf(*listed->more));
    return out;
}

Result<Reader::Export> Reader::exportPage(std::string_view fingerprint, const AuditFilter& filter,
                                          std::string_view pageToken)
{
    if (auto checked = checkFilter(filter); !checked)
        return forward(checked);
    const FilterTexts texts(filter);
    const auto identity = texts.identity("audit_export", fingerprint);
    auto cursor = store::readPageToken(identity, pageToken);
    if (!cursor)
        return forward(cursor);
    const auto seq = cursor->empty() ? std::optional<std::int64_t>(0) : number(*cursor);
    if (!seq)
        return badToken();
    return m_database.read([&](Connection& connection) -> Result<Export> {
        auto rows = LedgerTable(connection).after(fingerprint, *seq, kExportRows);
        if (!rows)
            return forward(rows);
        std::vector<Anchor> anchors;
        if (filter.isEmpty() && !rows->empty()) {
            auto found = AnchorTable(connection).between(fingerprint, *seq, rows->back().seq, kExportRows);
            if (!found)
                return forward(found);
            anchors = std::move(*found);
        }
        Export out;
        if (cursor->empty())
            addLine(out.lines, contract::toJson(contract::AuditExport{std::string(kFormat), std::string(fingerprint),
                                                                      filter.isEmpty(), keyIdOf(m_publicKey),
                                                                      toBase64(m_publicKey)}));
        addRows(out.lines, *rows, anchors, filter);
        if (rows->size() == kExportRows)
            out.nextPageToken = store::makePageToken(identity, std::to_string(rows->back().seq));
        return out;
    });
}

} // namespace assay::audit
