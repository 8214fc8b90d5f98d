// SPDX-License-Identifier: Apache-2.0
#include "server/retention/collection_pass.h"

#include "server/store/idempotency_table.h"
#include "server/store/server_state_table.h"

#include <algorithm>

namespace assay::retention {

using store::BundleKey;
using store::BundleKind;
using store::Connection;
using store::ExpiredRow;
using store::ExpiredRows;
using store::Removal;
using store::StoredBundle;

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kJobTime{5};          ///< a write job takes no further row after this
constexpr std::uint32_t kAnswersAtOnce = 50; ///< kept answers hold up to megabytes
const std::string kCursors = "collection.";

/// A bundle's key as a cursor: fingerprint and digest.
std::string cursorText(const BundleKey& key) { return key.scopeFingerprint + " " + key.digest.text(); }

std::optional<BundleKey> cursorKey(std::string_view text)
{
    const auto blank = text.find(' ');
    if (blank == std::string_view::npos)
        return std::nullopt;
    const auto digest = Digest::parse(text.substr(blank + 1));
    return digest ? std::optional<BundleKey>({std::string(text.substr(0, blank)), *digest}) : std::nullopt;
}

} // namespace

CollectionPass::CollectionPass(const Parts& parts, Removal removal, std::array<std::stop_token, 2> stops)
    : m_parts(parts), m_removal(removal), m_stops(std::move(stops)), m_now(parts.clock.now())
{}

contract::CollectionReport CollectionPass::run()
{
    m_report.dryRun = !isReal();
    m_report.complete = true;
    m_report.startedAt = m_now;
    // What names goes before what is named.
    step("runs", [this] { return rowsOfEveryScope("runs", expiredRuns); });
    step("artifacts", [this] { return rowsOfEveryScope("artifacts", expiredArtifacts); });
    step("revisions", [this] { return rowsOfEveryScope("revisions", expiredRevisions); });
    step("skills", [this] { return rowsOfEveryScope("skills", expiredSkills); });
    step("packages", [this] { return bundles("packages", BundleKind::Package); });
    step("artifact_bytes", [this] { return bundles("artifact_bytes", BundleKind::Artifact); });
    step("kept_answers", [this] { return keptAnswers(); });
    step("temporary_files", [this] { return leftovers(); });
    step("trees", [this] { return trees(); });
    m_report.endedAt = m_parts.clock.now();
    return std::move(m_report);
}

bool CollectionPass::isOver() const
{
    return std::ranges::any_of(m_stops, &std::stop_token::stop_requested) || steady_clock::now() >= m_stepEnd;
}

void CollectionPass::add(std::uint64_t count, std::uint64_t bytes)
{
    m_report.kinds.back().count += count;
    m_report.kinds.back().bytes += bytes;
}

/// `work` gives false when its time was over before its end.
void CollectionPass::step(std::string_view kind, const std::function<Result<bool>()>& work)
{
    m_report.kinds.push_back({.kind = std::string(kind)});
    m_stepEnd = steady_clock::now() + m_parts.settings.stepTime;
    const auto done = work();
    auto& report = m_report.kinds.back();
    report.complete = done && *done;
    if (!done)
        report.problem = done.error().message;
    m_report.complete = m_report.complete && report.complete;
}

Result<std::string> CollectionPass::cursor(const std::string& name)
{
    if (!isReal())
        return std::string();
    auto found = m_parts.database.read(
        [&](Connection& connection) { return store::ServerStateTable(connection).find(kCursors + name); });
    if (!found)
        return forward(found);
    return found->value_or("");
}

Result<void> CollectionPass::saveCursor(const std::string& name, std::string_view value)
{
    if (!isReal())
        return {};
    return m_parts.database.write(
        [&](Connection& connection) { return store::ServerStateTable(connection).put(kCursors + name, value); });
}

Result<store::Cutoffs> CollectionPass::cutoffsOf(const std::string& scope)
{
    if (m_cutoffScope == scope && !scope.empty())
        return m_cutoffs;
    const auto own =
        m_parts.database.read([&](Connection& connection) { return store::RetentionTable(connection).find(scope); });
    if (!own)
        return std::unexpected(own.error());
    m_cutoffScope = scope;
    m_cutoffs = cutoffsAt(m_now, m_parts.settings.defaults, *own);
    return m_cutoffs;
}

Result<bool> CollectionPass::rowsOfEveryScope(std::string_view kind, RowKindOf kindOf)
{
    const std::string name(kind);
    auto begun = cursor(name);
    if (!begun)
        return forward(begun);
    std::string last = std::move(*begun);
    for (;;) {
        auto scope =
            m_parts.database.read([&](Connection& connection) { return ExpiredRows(connection).nextScope(last); });
        if (!scope)
            return forward(scope);
        if (!*scope)
            break;
        const auto cutoffs = cutoffsOf(**scope);
        if (!cutoffs)
            return std::unexpected(cutoffs.error());
        const auto done = rowsOfScope(kindOf(**scope, *cutoffs));
        if (!done)
            return done;
        if (!*done || isOver()) {
            // The next collection begins with the scope that was cut.
            auto saved = saveCursor(name, *done ? **scope : last);
            return saved ? Result<bool>(false) : Result<bool>(forward(saved));
        }
        last = std::move(**scope);
    }
    if (begun->empty())
        return true;
    auto saved = saveCursor(name, "");
    return saved ? Result<bool>(true) : Result<bool>(forward(saved));
}

Result<bool> CollectionPass::rowsOfScope(const RowKind& kind)
{
    std::optional<ExpiredRow> after;
    for (;;) {
        auto rows = m_parts.database.read([&](Connection& connection) {
            ExpiredRows expired(connection);
            return kind.list(expired, after ? &*after : nullptr);
        });
        if (!rows)
            return forward(rows);
        if (rows->empty())
            return true;
        if (isReal()) {
            const auto done = removeRows(kind, *rows);
            if (!done || !*done)
                return done;
        } else {
            for (const ExpiredRow& row : *rows)
                add(1, row.bytes);
        }
        if (isOver())
            return false;
        after = std::move(rows->back());
    }
}

/// Many rows a job, but never for long: whoever publishes waits behind one job of a few milliseconds.
Result<bool> CollectionPass::removeRows(const RowKind& kind, const std::vector<ExpiredRow>& rows)
{
    for (std::size_t next = 0; next < rows.size();) {
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;
        std::size_t at = next;
        auto done = m_parts.database.write([&](Connection& connection) -> Result<void> {
            const auto jobEnd = steady_clock::now() + kJobTime;
            ExpiredRows expired(connection);
            do {
                const auto removal = kind.remove(expired, rows[at]);
                if (!removal)
                    return std::unexpected(removal.error());
                if (*removal == store::RowRemoval::Partly)
                    break;
                if (*removal == store::RowRemoval::Gone) {
                    ++count;
                    bytes += rows[at].bytes;
                }
                ++at;
            } while (at < rows.size() && steady_clock::now() < jobEnd);
            return {};
        });
        if (!done)
            return forward(done);
        add(count, bytes);
        next = at;
        // After each job, also one that took a part of a row: a large one does not hold up a stop.
        if (next < rows.size() && isOver())
            return false;
    }
    return true;
}

Result<bool> CollectionPass::bundles(std::string_view kind, BundleKind table)
{
    std::size_t number = 0;
    for (const CollectedStores& backend : m_parts.stores) {
        store::SkillPackageStore& store = table == BundleKind::Package ? *backend.packages : *backend.artifacts;
        const auto done = bundlesOf(store, table, std::string(kind) + "." + std::to_string(number++));
        if (!done || !*done)
            return done;
    }
    return true;
}

Result<bool> CollectionPass::bundlesOf(store::SkillPackageStore& store, BundleKind table, const std::string& cursorName)
{
    auto begun = cursor(cursorName);
    if (!begun)
        return forward(begun);
    std::optional<BundleKey> after = cursorKey(*begun);
    for (;;) {
        auto listed = store.list(after ? &*after : nullptr, kListedRows);
        if (!listed)
            return forward(listed);
        if (listed->empty())
            break;
        auto found = unnamed(*listed, table);
        if (!found)
            return forward(found);
        if (auto removed = removeBundles(store, table, *found); !removed)
            return forward(removed);
        after = listed->back().key;
        if (isOver()) {
            auto saved = saveCursor(cursorName, cursorText(*after));
            return saved ? Result<bool>(false) : Result<bool>(forward(saved));
        }
    }
    if (begun->empty())
        return true;
    auto saved = saveCursor(cursorName, "");
    return saved ? Result<bool>(true) : Result<bool>(forward(saved));
}

/// Looked up on a reader: the writer judges only the few that seem to be garbage. What is only counted is judged as if
/// the expired rows had gone.
Result<std::vector<StoredBundle>> CollectionPass::unnamed(const std::vector<StoredBundle>& listed, BundleKind table)
{
    std::vector<StoredBundle> out;
    for (const StoredBundle& bundle : listed) {
        const auto cutoffs =
            isReal() ? Result<store::Cutoffs>(store::Cutoffs{}) : cutoffsOf(bundle.key.scopeFingerprint);
        if (!cutoffs)
            return std::unexpected(cutoffs.error());
        const auto isNamed = m_parts.database.read([&](Connection& connection) {
            return store::BundleReferences(connection, table).has(bundle.key, *cutoffs);
        });
        if (!isNamed)
            return std::unexpected(isNamed.error());
        if (!*isNamed)
            out.push_back(bundle);
    }
    return out;
}

Result<void> CollectionPass::removeBundles(store::SkillPackageStore& store, BundleKind table,
                                           const std::vector<StoredBundle>& bundles)
{
    if (!isReal()) {
        for (const StoredBundle& bundle : bundles)
            add(1, bundle.sizeBytes);
        return {};
    }
    for (auto next = bundles.begin(); next != bundles.end() && (next == bundles.begin() || !isOver());) {
        std::uint64_t count = 0;
        std::uint64_t bytes = 0;
        auto at = next;
        auto done = m_parts.database.write([&](Connection& connection) -> Result<void> {
            const auto jobEnd = steady_clock::now() + kJobTime;
            do {
                const auto removed = removeUnnamed(connection, store, table, at->key);
                if (!removed)
                    return std::unexpected(removed.error());
                count += *removed ? 1 : 0;
                bytes += *removed ? at->sizeBytes : 0;
                ++at;
            } while (at != bundles.end() && steady_clock::now() < jobEnd);
            return {};
        });
        if (!done)
            return done;
        add(count, bytes);
        next = at;
    }
    return {};
}

/// On the writer's thread no row can be added between the look and the removal; what is put and not yet named is held.
Result<bool> CollectionPass::removeUnnamed(Connection& connection, store::SkillPackageStore& store, BundleKind table,
                                           const BundleKey& key)
{
    const auto isNamed = store::BundleReferences(connection, table).has(key);
    if (!isNamed || *isNamed)
        return isNamed ? Result<bool>(false) : isNamed;
    return store.removeGarbage(connection, key, m_now - m_parts.settings.grace);
}

Result<bool> CollectionPass::keptAnswers()
{
    const auto expired = m_parts.database.read(
        [&](Connection& connection) { return store::IdempotencyTable(connection).countExpired(m_now); });
    if (!expired)
        return std::unexpected(expired.error());
    if (!isReal()) {
        add(expired->count, expired->bytes);
        return true;
    }
    for (std::int64_t removed = 1; removed > 0;) {
        const auto done = m_parts.database.write([&](Connection& connection) {
            return store::IdempotencyTable(connection).removeExpired(m_now, kAnswersAtOnce);
        });
        if (!done)
            return std::unexpected(done.error());
        removed = *done;
        add(static_cast<std::uint64_t>(removed), 0);
        if (removed > 0 && isOver())
            return false;
    }
    add(0, expired->bytes);
    return true;
}

Result<bool> CollectionPass::leftovers()
{
    for (const CollectedStores& backend : m_parts.stores)
        for (store::SkillPackageStore* store : {backend.packages, backend.artifacts}) {
            const auto removed = store->removeLeftovers(m_now - m_parts.settings.grace, m_removal);
            if (!removed)
                return std::unexpected(removed.error());
            add(removed->count, removed->bytes);
        }
    return true;
}

Result<bool> CollectionPass::trees()
{
    if (m_parts.trees == nullptr)
        return true;
    const store::Removed removed = m_parts.trees->sweepTrees(m_parts.settings.treeAge, m_removal);
    add(removed.count, removed.bytes);
    return true;
}

} // namespace assay::retention
