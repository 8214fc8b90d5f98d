// SPDX-License-Identifier: Apache-2.0
#include "server/store/verified_bundle.h"

namespace assay::store {

Result<Bundle> verifyBundle(std::string bytes, const Digest& digest)
{
    if (Digest::ofBytes(bytes) != digest)
        return failDamagedBundle(digest);
    const auto storage = std::make_shared<const std::string>(std::move(bytes));
    return Bundle(*storage, storage);
}

std::unexpected<Error> failDamagedBundle(const Digest& digest)
{
    Error error{ErrorCode::Internal,
                "the stored bytes are damaged and are not served; store them again or restore a backup",
                "bundle " + digest.text() + " holds other bytes",
                "digest_mismatch",
                {}};
    return std::unexpected(std::move(error));
}

std::unexpected<Error> failMissingBundle(const Digest& digest)
{
    return fail(ErrorCode::NotFound, "the stored bytes are missing", "no bundle " + digest.text());
}

} // namespace assay::store
