// SPDX-License-Identifier: Apache-2.0
#include "server/audit/anchorer.h"

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

Result<std::uint64_t> anchorChain(Connection& connection, const std::string& fingerprint, const SigningKey& key,
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
        return 0;
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
    return 1;
}

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
    std::unique_lock lock(m_mutex);
    while (!m_wake.wait_for(lock, m_options.look, [&] { return m_stopping; })) {
        lock.unlock();
        if (m_refusals)
            m_refusals->endOld();
        const auto now = std::chrono::steady_clock::now();
        const auto rows = unanchoredRows();
        const bool isDue = rows && *rows > 0 && (*rows >= m_options.rows || now - last >= m_options.interval);
        Result<std::uint64_t> done = 0;
        if (isDue) {
            done = anchorNow();
            last = now;
        }
        if (!rows)
            done = std::unexpected(rows.error());
        if (!done && m_options.report)
            m_options.report(done.error());
        lock.lock();
    }
}

Result<std::uint64_t> Anchorer::anchorNow()
{
    std::uint64_t total = 0;
    for (;;) {
        bool isEnd = false;
        auto made = m_database.write([&](Connection& connection) -> Result<std::uint64_t> {
            auto anchored = anchoredRow(connection);
            if (!anchored)
                return forward(anchored);
            auto grown = LedgerTable(connection).chainsAfter(*anchored, kRowsAtOnce);
            if (!grown)
                return forward(grown);
            isEnd = grown->lastRow == 0;
            if (isEnd)
                return 0;
            std::uint64_t count = 0;
            for (const std::string& fingerprint : grown->fingerprints) {
                auto one = anchorChain(connection, fingerprint, m_key, m_clock.now());
                if (!one)
                    return one;
                count += *one;
            }
            auto put = store::ServerStateTable(connection).put(kAnchoredRow, std::to_string(grown->lastRow));
            return put ? Result<std::uint64_t>(count) : forward(put);
        });
        if (!made)
            return made;
        if (isEnd)
            return total;
        total += *made;
    }
}

} // namespace assay::audit
