// SPDX-License-Identifier: Apache-2.0
#include "server/store/package_store_factory.h"

#include "server/store/database_package_store.h"

namespace assay::store {

namespace {

Result<std::unique_ptr<SkillPackageStore>> make(const PackageStoreSettings& settings, Database& database,
                                                BundleKind kind, std::string_view folder, RootUse use)
{
    if (settings.backend == "database")
        return std::make_unique<DatabasePackageStore>(database, kind);
    if (settings.backend == "s3")
        return fail(ErrorCode::InvalidArgument, "ASSAY_SKILLS_BACKEND: s3 is not in this version; use database or "
                                                "filesystem");
    if (settings.backend != "filesystem")
        return fail(ErrorCode::InvalidArgument, "ASSAY_SKILLS_BACKEND must be database or filesystem");
    if (!settings.filesystemRoot.is_absolute())
        return fail(ErrorCode::InvalidArgument, "ASSAY_SKILLS_FILESYSTEM_ROOT must be an absolute path when "
                                                "ASSAY_SKILLS_BACKEND is filesystem");
    return FilesystemPackageStore::open(settings.filesystemRoot / folder, use);
}

} // namespace

Result<std::unique_ptr<SkillPackageStore>> makePackageStore(const PackageStoreSettings& settings, Database& database,
                                                            RootUse use)
{
    return make(settings, database, BundleKind::Package, "packages", use);
}

Result<std::unique_ptr<SkillPackageStore>> makeArtifactStore(const PackageStoreSettings& settings, Database& database,
                                                             RootUse use)
{
    return make(settings, database, BundleKind::Artifact, "artifacts", use);
}

} // namespace assay::store
