// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/database.h"
#include "server/store/filesystem_package_store.h"
#include "server/store/package_store.h"

#include <filesystem>

namespace assay::store {

/// The operator's choice (ASSAY_SKILLS_BACKEND, ASSAY_SKILLS_FILESYSTEM_ROOT); no request reaches it.
struct PackageStoreSettings
{
    std::string backend = "database";     ///< "database" or "filesystem"
    std::filesystem::path filesystemRoot; ///< absolute; required by "filesystem", made when it is missing
};

/// The store of skill bundles. `InvalidArgument` names the setting that is wrong: an unknown backend, `s3` (not in this
/// version), a missing or relative root. `database` must outlive the store.
Result<std::unique_ptr<SkillPackageStore>> makePackageStore(const PackageStoreSettings& settings, Database& database,
                                                            RootUse use = RootUse::Owner);

/// The store of artifacts' bytes: the same interface and choice, a table or a folder of its own.
Result<std::unique_ptr<SkillPackageStore>> makeArtifactStore(const PackageStoreSettings& settings, Database& database,
                                                             RootUse use = RootUse::Owner);

} // namespace assay::store
