// SPDX-License-Identifier: Apache-2.0
#include "server/audit/verifier.h"

#include "server/audit/ledger_table.h"
#include "server/core/base64.h"

namespace assay::audit {

using contract::AuditFault;
using contract::AuditVerdict;
using store::Connection;

namespace {

constexpr std::uint32_t kRowsAtOnce = 2000;

std::unexpected<Error> busy()
{
    return fail(ErrorCode::RateLimited, "the audit ledger is being verified already; ask again when that has ended");
}

/// Rows of one chain with the anchors that belong among them, read in one snapshot.
struct Piece
{
    std::vector<Row> rows;
    std::vector<Anchor> anchors;
    bool isLast = false;
};

Result<Piece> pieceAfter(Connection& connection, std::string_view fingerprint, std::int64_t seq)
{
    constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
    Piece out;
    auto rows = LedgerTable(connection).after(fingerprint, seq, kRowsAtOnce);
    if (!rows)
        return forward(rows);
    out.isLast = rows->size() < kRowsAtOnce;
    // After the last row, any anchor tells of rows that are gone: one is enough.
    const std::int64_t last = out.isLast ? kAll : rows->back().seq;
    auto anchors = AnchorTable(connection).between(fingerprint, seq, last, kRowsAtOnce + 1);
    if (!anchors)
        return forward(anchors);
    out.rows = std::move(*rows);
    out.anchors = std::move(*anchors);
    return out;
}

void judgePiece(ChainCheck& check, const Piece& piece)
{
    auto anchor = piece.anchors.begin();
    for (const Row& row : piece.rows) {
        if (!check.row(row))
            return;
        for (; anchor != piece.anchors.end() && anchor->seq <= row.seq; ++anchor)
            if (!check.anchor(*anchor))
                return;
    }
    if (anchor != piece.anchors.end())
        check.anchor(*anchor);
}

} // namespace

Verifier::Verifier(store::Database& database, std::string publicKey, Options options)
    : m_database(database),
      m_publicKey(std::move(publicKey)),
      m_options(options),
      m_started(options.clock ? options.clock->steadyNow() : std::chrono::steady_clock::time_point())
{}

AuditVerdict Verifier::begin() const { return {.keyId = keyIdOf(m_publicKey), .publicKey = toBase64(m_publicKey)}; }

Result<AuditVerdict> Verifier::chain(std::string_view fingerprint)
{
    const std::unique_lock turn(m_turn, std::try_to_lock);
    if (!turn)
        return busy();
    AuditVerdict verdict = begin();
    if (auto judged = judge(fingerprint, known(), verdict); !judged)
        return forward(judged);
    return verdict;
}

Result<AuditVerdict> Verifier::all()
{
    const std::unique_lock turn(m_turn, std::try_to_lock);
    if (!turn)
        return busy();
    AuditVerdict verdict = begin();
    const Heads::Known known = this->known();               // before the rows are read: the file is never ahead
    std::optional<std::string> fingerprint = std::string(); // the server's own is the first
    while (fingerprint && verdict.valid) {
        if (auto judged = judge(*fingerprint, known, verdict); !judged)
            return forward(judged);
        auto next = chainAfter(*fingerprint, known);
        if (!next)
            return forward(next);
        fingerprint = std::move(*next);
    }
    if (verdict.valid)
        if (auto judged = judgeAnchors(known, verdict); !judged)
            return forward(judged);
    return verdict;
}

/// Of the database's chains and of the remembered ones, for one that is gone is missed too.
Result<std::optional<std::string>> Verifier::chainAfter(std::string_view fingerprint, const Heads::Known& known)
{
    auto next =
        m_database.read([&](Connection& connection) { return LedgerTable(connection).chainAfter(fingerprint); });
    const auto remembered = known.chains.upper_bound(fingerprint);
    if (next && remembered != known.chains.end() && (!*next || remembered->first < **next))
        return remembered->first;
    return next;
}

/// A chain without the row and the anchor that are remembered as its newest.
Result<Verifier::Fault> Verifier::forgotten(Connection& connection, std::string_view fingerprint,
                                            const Heads::Head& head) const
{
    const auto bad = [&](std::int64_t seq, const char* reason) {
        return Fault(AuditFault{std::string(fingerprint), seq, reason});
    };
    auto row = LedgerTable(connection).find(fingerprint, head.seq);
    auto end = LedgerTable(connection).head(fingerprint);
    auto anchors = AnchorTable(connection).between(fingerprint, head.seq - 1, head.seq, 1);
    if (!row)
        return forward(row);
    if (!end)
        return forward(end);
    if (!anchors)
        return forward(anchors);
    if (!*row)
        return bad(end->seq + 1, "missing");
    if ((*row)->hash != head.hash)
        return bad(head.seq, "rewritten");
    return anchors->empty() ? bad(head.seq, "anchor_missing") : Fault();
}

/// The first row after the newest anchor, when it has waited for one for too long.
Result<Verifier::Fault> Verifier::waiting(Connection& connection, std::string_view fingerprint) const
{
    if (!m_options.clock || m_options.clock->steadyNow() - m_started <= m_options.patience)
        return Fault();
    auto anchor = AnchorTable(connection).newestOf(fingerprint);
    if (!anchor)
        return forward(anchor);
    const std::int64_t seq = (*anchor ? (*anchor)->seq : 0) + 1;
    auto row = LedgerTable(connection).find(fingerprint, seq);
    if (!row)
        return forward(row);
    const bool isLate = *row && m_options.clock->now() - (*row)->at > m_options.patience;
    return isLate ? Fault(AuditFault{std::string(fingerprint), seq, "anchor_missing"}) : Fault();
}

Result<void> Verifier::judge(std::string_view fingerprint, const Heads::Known& known, AuditVerdict& verdict)
{
    ChainCheck check{std::string(fingerprint), m_publicKey};
    for (bool isLast = false; !isLast && !check.fault();) {
        auto piece = m_database.read(
            [&](Connection& connection) { return pieceAfter(connection, fingerprint, check.lastSeq()); });
        if (!piece)
            return forward(piece);
        isLast = piece->isLast;
        judgePiece(check, *piece);
    }
    verdict.checked += check.rows();
    verdict.anchors += check.anchors();
    auto fault =
        check.fault() ? Result<Fault>(check.fault()) : m_database.read([&](Connection& connection) -> Result<Fault> {
            const auto head = known.chains.find(fingerprint);
            auto gone =
                head == known.chains.end() ? Result<Fault>(Fault()) : forgotten(connection, fingerprint, head->second);
            return !gone || *gone ? gone : waiting(connection, fingerprint);
        });
    if (!fault)
        return forward(fault);
    verdict.valid = !*fault;
    verdict.firstBad = std::move(*fault);
    return {};
}

// The rows were judged with their anchors; here, whether all anchors are there, and whether each still has its row.
Result<void> Verifier::judgeAnchors(const Heads::Known& known, AuditVerdict& verdict)
{
    std::int64_t number = 0;
    Digest link;
    const auto bad = [&](const Anchor& anchor, std::string reason) {
        verdict.valid = false;
        verdict.firstBad = AuditFault{anchor.fingerprint, anchor.seq, std::move(reason)};
        return Result<void>{};
    };
    for (;;) {
        auto anchors =
            m_database.read([&](Connection& connection) { return AnchorTable(connection).after(number, kRowsAtOnce); });
        if (!anchors)
            return forward(anchors);
        for (const Anchor& anchor : *anchors) {
            if (anchor.number != number + 1)
                return bad(anchor, "anchor_missing");
            if (anchor.link != linkOf(link, anchor) ||
                !isSignedBy(m_publicKey, linkMessage(anchor.link), anchor.linkSignature))
                return bad(anchor, "anchor_forged");
            auto row = m_database.read(
                [&](Connection& connection) { return LedgerTable(connection).find(anchor.fingerprint, anchor.seq); });
            if (!row)
                return forward(row);
            if (!*row) // its whole chain is gone, or it would have been found there
                return judge(anchor.fingerprint, known, verdict);
            if ((*row)->hash != anchor.rowHash)
                return bad(anchor, "anchor_mismatch");
            if (anchor.number == known.number && anchor.link != known.link)
                return bad(anchor, "rewritten");
            number = anchor.number;
            link = anchor.link;
        }
        if (anchors->size() < kRowsAtOnce)
            return number >= known.number ? Result<void>{} : bad({.seq = 1}, "anchor_missing");
    }
}

} // namespace assay::audit
