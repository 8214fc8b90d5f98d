// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/package.h"

namespace assay::registry {

/// `writeArchive` for a zip without 64-bit records: up to 65,534 files and 4 GiB, `TooLarge` above. libarchive's writer
/// is not used because its times depend on the time zone and its names on the locale.
Result<std::string> writeZip(const std::vector<PackageFile>& files, std::string_view topFolder);

} // namespace assay::registry
