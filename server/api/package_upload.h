// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/request.h"
#include "server/api/service.h"
#include "server/contract/codec.h"

namespace assay::api {

/// A package as it was uploaded, before any rule was applied.
struct PackageUpload
{
    std::optional<std::string> name; ///< the body's, when it is JSON
    registry::PackageSource source;
    registry::PublishOptions options; ///< note, enabled and visibility
};

/// Reads the body as its content type says. `InvalidArgument` for malformed JSON, `InvalidPackage` for an archive that
/// breaks a rule of archives. `pathName` is empty unless the path names the skill.
Result<PackageUpload> readUpload(const Services& services, Request& request, contract::NameFrom nameFrom,
                                 std::string_view pathName = {});

} // namespace assay::api
