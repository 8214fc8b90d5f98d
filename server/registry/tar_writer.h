// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/package.h"

namespace assay::registry {

/// `writeArchive` for a tar (ustar, with a pax header where a name needs one) and for a tar in one gzip member.
Result<std::string> writeTar(const std::vector<PackageFile>& files, std::string_view topFolder);
Result<std::string> writeTarGz(const std::vector<PackageFile>& files, std::string_view topFolder);

} // namespace assay::registry
