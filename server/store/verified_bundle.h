// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/package_store.h"

namespace assay::store {

/// Larger than any package or artifact that the server's limits let in; what is larger is not read.
inline constexpr std::uint64_t kMaxBundleBytes = 1ULL << 30;

/// Hashes `bytes`; a bundle when they are what `digest` says, else `Internal` with reason `digest_mismatch`.
Result<Bundle> verifyBundle(std::string bytes, const Digest& digest);

/// `Internal` with reason `digest_mismatch`.
std::unexpected<Error> failDamagedBundle(const Digest& digest);

/// `NotFound`, the same for every store.
std::unexpected<Error> failMissingBundle(const Digest& digest);

} // namespace assay::store
