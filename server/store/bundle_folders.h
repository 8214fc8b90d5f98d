// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/store/package_store.h"

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace assay::store {

// The walk over the folders of a filesystem store (docs/storage.md, "Bundles"): `<fingerprint>/<2 hex digits>/<hex>`
// below an open root. No link is followed. Any thread.

/// A fingerprint becomes a folder's name: nothing else may.
bool isFingerprint(std::string_view text);

/// See SkillPackageStore::list.
Result<std::vector<StoredBundle>> listBundleFiles(int root, const BundleKey* after, std::uint32_t limit);

/// When the regular file `name` in `folder` was last written; empty when there is none.
std::optional<Timestamp> writtenAt(int folder, const std::string& name);

/// Removes, or counts, the files of one folder that were last written before `writtenBefore` and are not in use.
Result<Removed> removeFiles(int folder, Timestamp writtenBefore, Removal removal,
                            const std::function<bool(const std::string& name)>& isInUse);

} // namespace assay::store
