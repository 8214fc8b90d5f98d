// SPDX-License-Identifier: Apache-2.0
#include "server/audit/anchorer.h"

#include "server/audit/ledger_table.h"
#include "server/store/server_state_table.h"

#include <charconv>

namespace assay::audit {

using store::Connection;

namespace {

constexpr std::string_view kAnchoredRow = "ledger_anchored_row";
constexpr std::uint32_t kRowsAtOnce = 1000; // of one write job: it signs for as many chains at most

Result<std::int64_t> anchoredRow(Connection& connection)
{
    auto text = store::ServerStateTable(connection).find(kAnchoredRow);
    if (!text)
        return forward(text);
    std::int64_t row = 0;
    const std::string written = text->value_or("0");
    std::from_chars(written.data(), written.data() + written.size(), row);
    return row;
}

/// The new anchor of a chain; none when it did not grow.
Result<std::optional<Anchor>> anchorChain(Connection& connection, const std::string& fingerprint, const SigningKey& key,
                                          Timestamp now)
{
    auto head = LedgerTable(connection).head(fingerprint);
    if (!head)
        return forward(head);
    AnchorTable anchors(connection);
    auto last = anchors.newestOf(fingerprint);
    if (!last)
        return forward(last);
    if (*last && (*last)->seq >= head->seq)
        return std::nullopt;
    auto before = anchors.newest();
    if (!before)
        return forward(before);
    Anchor anchor{.fingerprint = fingerprint, .seq = head->seq, .at = now, .rowHash = head->hash, .keyId = key.id()};
    anchor.signature = key.sign(anchorMessage(anchor));
    anchor.number = *before ? (*before)->number + 1 : 1;
    anchor.link = linkOf(*before ? (*before)->link : Digest(), anchor);
    anchor.linkSignature = key.sign(linkMessage(anchor.link));
    if (auto inserted = anchors.insert(anchor); !inserted)
        return forward(inserted);
    return anchor;
}

/// Whether the newest anchor that is remembered is in the database.
Result<bool> holdsAnchor(Connection& connection, const Heads::Known& known)
{
    if (known.number == 0)
        return true;
    auto found = AnchorTable(connection).after(known.number - 1, 1);
    if (!found)
        return forward(found);
    return !found->empty() && found->front().number == known.number && found->front().link == known.link;
}

Result<bool> holdsRow(Connection& connection, const Heads::Known& known, const std::string& fingerprint)
{
    const auto head = known.chains.find(fingerprint);
    if (head == known.chains.end())
        return true;
    auto row = LedgerTable(connection).find(fingerprint, head->second.seq);
    if (!row)
        return forward(row);
    return *row && (*row)->hash == head->second.hash;
}

std::string nameOfChain(const std::string& fingerprint)
{
    return fingerprint.empty() ? "the server's own chain" : "the chain of " + fingerprint;
}

constexpr std::string_view kRemedy = "; no more anchors are made of it: run assayctl audit verify and compare with an "
                                     "export kept elsewhere";

} // namespace

Anchorer::Anchorer(store::Database& database, const Clock& clock, SigningKey key, Refusals* refusals, Options options)
    : m_database(database),
      m_clock(clock),
      m_key(std::move(key)),
      m_refusals(refusals),
      m_options(std::move(options)),
      m_thread([this] { loop(); })
{}

Anchorer::~Anchorer()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
    }
    m_wake.notify_all();
    m_thread.join();
    if (m_refusals)
        m_refusals->endAll(); // before the last anchors, which cover them then
    if (auto done = anchorNow(); !done && m_options.report)
        m_options.report(done.error());
}

Result<std::int64_t> Anchorer::unanchoredRows()
{
    return m_database.read([&](Connection& connection) -> Result<std::int64_t> {
        auto anchored = anchoredRow(connection);
        if (!anchored)
            return anchored;
        auto newest = LedgerTable(connection).newestRow();
        return newest ? Result<std::int64_t>(*newest - *anchored) : newest;
    });
}

void Anchorer::loop()
{
    auto last = std::chrono::steady_clock::now();
    bool hasFailed = false; // what did not work is tried again after the interval, not at every look
    std::unique_lock lock(m_mutex);
    while (!m_wake.wait_for(lock, m_options.look, [&] { return m_stopping; })) {
        lock.unlock();
        if (m_refusals)
            m_refusals->endOld();
        const auto now = std::chrono::steady_clock::now();
        const auto rows = unanchoredRows();
        const bool isMany = rows && *rows >= m_options.rows && !hasFailed;
        const bool isDue = rows && *rows > 0 && (isMany || now - last >= m_options.interval);
        Result<std::uint64_t> done = 0;
        if (isDue) {
            done = anchorNow();
            last = now;
            hasFailed = !done;
        }
        if (!rows)
            done = std::unexpected(rows.error());
        if (!done && m_options.report)
            m_options.report(done.error());
        lock.lock();
    }
}

Result<Anchorer::Step> Anchorer::step(Connection& connection, const Heads::Known& known)
{
    auto anchored = anchoredRow(connection);
    if (!anchored)
        return forward(anchored);
    auto grown = LedgerTable(connection).chainsAfter(*anchored, kRowsAtOnce);
    if (!grown)
        return forward(grown);
    Step out{.row = grown->lastRow, .isEnd = grown->lastRow == 0};
    if (out.isEnd)
        return out;
    for (const std::string& fingerprint : grown->fingerprints) {
        auto isWhole = holdsRow(connection, known, fingerprint);
        if (!isWhole)
            return forward(isWhole);
        if (!*isWhole) {
            out.refused = nameOfChain(fingerprint);
            continue;
        }
        auto one = anchorChain(connection, fingerprint, m_key, m_clock.now());
        if (!one)
            return forward(one);
        if (*one)
            out.anchors.push_back(std::move(**one));
    }
    auto put = store::ServerStateTable(connection).put(kAnchoredRow, std::to_string(out.row));
    return put ? Result<Step>(std::move(out)) : forward(put);
}

Result<std::uint64_t> Anchorer::anchorNow()
{
    const Heads::Known known = m_options.heads ? m_options.heads->known() : Heads::Known();
    auto isWhole = m_database.read([&](Connection& connection) { return holdsAnchor(connection, known); });
    if (!isWhole)
        return forward(isWhole);
    if (!*isWhole)
        return refuse("the chain of anchors");
    auto newest = m_database.read([](Connection& connection) { return LedgerTable(connection).newestRow(); });
    if (!newest)
        return forward(newest);
    std::uint64_t total = 0;
    std::string refused;
    for (bool isEnd = false; !isEnd;) {
        auto made = m_database.write([&](Connection& connection) { return step(connection, known); });
        if (!made)
            return forward(made);
        // After the commit: killed between the two, the file is behind, which is no fault.
        if (m_options.heads)
            if (auto learned = m_options.heads->learn(made->anchors); !learned)
                return forward(learned);
        total += made->anchors.size();
        isEnd = made->isEnd || made->row >= *newest;
        refused = made->refused.empty() ? refused : made->refused;
    }
    return refused.empty() ? Result<std::uint64_t>(total) : refuse(refused);
}

std::unexpected<Error> Anchorer::refuse(const std::string& chain)
{
    const std::string why = chain + " does not hold what was signed: the database was changed" + std::string(kRemedy);
    m_options.heads->doubt(why);
    return fail(ErrorCode::Internal, why);
}

} // namespace assay::audit
