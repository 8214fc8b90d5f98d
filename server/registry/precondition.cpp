// SPDX-License-Identifier: Apache-2.0
#include "server/registry/precondition.h"

namespace assay::registry {

std::string rowTag(std::uint64_t version, Timestamp updatedAt)
{
    return std::to_string(version) + "-" + std::to_string(updatedAt.time_since_epoch().count());
}

Result<void> checkIfMatch(const std::optional<std::string>& ifMatch, const std::optional<std::string>& present)
{
    if (!ifMatch || (present && (*ifMatch == "*" || *ifMatch == *present)))
        return {};
    return fail(ErrorCode::PreconditionFailed,
                present ? "the object has changed since it was read; read it again and repeat the request with its ETag"
                        : "the object does not exist, so no If-Match can hold");
}

} // namespace assay::registry
