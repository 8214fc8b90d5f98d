// SPDX-License-Identifier: Apache-2.0
#include "server/store/bundle_copy.h"

namespace assay::store {

namespace {

constexpr std::uint32_t kListed = 200;

bool isWholeIn(SkillPackageStore& store, const BundleKey& key)
{
    return store.fetch(key.scopeFingerprint, key.digest).has_value();
}

/// It may have been collected since it was listed; then nobody misses it.
Result<void> noteLost(Database& database, BundleKind kind, const BundleKey& key, CopyReport& report)
{
    const auto isNamed =
        database.read([&](Connection& connection) { return BundleReferences(connection, kind).has(key); });
    if (!isNamed)
        return std::unexpected(isNamed.error());
    if (!*isNamed)
        return {};
    ++report.lost;
    if (report.some.size() < CopyReport::kMaxTold)
        report.some.push_back(key);
    return {};
}

Result<void> copyOne(Database& database, BundleKind kind, SkillPackageStore& source, SkillPackageStore& target,
                     const BundleKey& key, CopyReport& report)
{
    if (isWholeIn(target, key)) {
        ++report.present;
        return {};
    }
    const auto bundle = source.fetch(key.scopeFingerprint, key.digest);
    if (!bundle)
        return noteLost(database, kind, key, report);
    const std::string_view pieces[] = {bundle->bytes()};
    if (auto put = target.put(key.scopeFingerprint, key.digest, pieces); !put)
        return put;
    if (auto seen = target.fetch(key.scopeFingerprint, key.digest); !seen)
        return forward(seen);
    ++report.copied;
    report.copiedBytes += bundle->bytes().size();
    return {};
}

} // namespace

Result<CopyReport> copyNamedBundles(Database& database, BundleKind kind, SkillPackageStore& source,
                                    SkillPackageStore& target, const std::function<bool(const CopyReport&)>& progress)
{
    CopyReport report;
    std::optional<BundleKey> after;
    for (;;) {
        const auto named = database.read([&](Connection& connection) {
            return BundleReferences(connection, kind).list(after ? &*after : nullptr, kListed);
        });
        if (!named)
            return std::unexpected(named.error());
        if (named->empty())
            return report;
        for (const BundleKey& key : *named) {
            if (auto copied = copyOne(database, kind, source, target, key, report); !copied)
                return forward(copied);
            if (!progress(report))
                return fail(ErrorCode::Cancelled, "the copy was interrupted; ask again and it goes on");
        }
        after = named->back();
    }
}

Result<std::uint64_t> removeEveryBundle(SkillPackageStore& store)
{
    std::uint64_t removed = 0;
    for (;;) {
        const auto listed = store.list(nullptr, kListed);
        if (!listed)
            return std::unexpected(listed.error());
        if (listed->empty())
            return removed;
        for (const StoredBundle& bundle : *listed) {
            if (auto done = store.remove(bundle.key.scopeFingerprint, bundle.key.digest); !done)
                return forward(done);
            ++removed;
        }
    }
}

} // namespace assay::store
