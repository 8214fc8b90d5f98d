// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/bundle_references.h"
#include "server/store/database.h"

#include <functional>

namespace assay::store {

/// How far a copy is. Every named bundle is one of `copied`, `present` and `lost`.
struct CopyReport
{
    std::uint64_t copied = 0;
    std::uint64_t copiedBytes = 0;
    std::uint64_t present = 0;   ///< was in the target already, and whole
    std::uint64_t lost = 0;      ///< in neither store whole
    std::vector<BundleKey> some; ///< of the lost ones, at most `kMaxTold`

    static constexpr std::size_t kMaxTold = 100;
};

/// Copies every bundle that a row names from one store to another, and reads each back from the target, hashed: what is
/// counted as copied or present was seen whole there. What is there already is not read from the source, so an
/// interrupted copy goes on where it was. Works beside a running server: it changes nothing in the source. `progress`
/// is called after each bundle; the copy ends with `Cancelled` when it returns false. Errors of the target end it.
Result<CopyReport> copyNamedBundles(Database& database, BundleKind kind, SkillPackageStore& source,
                                    SkillPackageStore& target, const std::function<bool(const CopyReport&)>& progress);

/// Removes all bundles of a store, named or not; the number. For the store that a finished cutover has left.
Result<std::uint64_t> removeEveryBundle(SkillPackageStore& store);

} // namespace assay::store
