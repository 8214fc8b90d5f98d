// SPDX-License-Identifier: Apache-2.0
// The calls of SkillService that read two revisions as a whole.
#include "server/registry/capabilities/capability_diff.h"
#include "server/registry/capabilities/package_scan.h"
#include "server/registry/diff/package_diff.h"
#include "server/registry/skill_service.h"
#include "server/registry/skill_view.h"
#include "server/registry/stored_form.h"

#include <algorithm>

namespace assay::registry {

namespace {

std::unexpected<Error> failDamaged(std::string detail)
{
    return std::unexpected(Error{ErrorCode::Internal,
                                 "the stored bytes of this revision are damaged and not served",
                                 std::move(detail),
                                 "digest_mismatch",
                                 {}});
}

/// The bundle's digest was verified, so what the catalog knows of each file belongs to these bytes.
Result<void> addFacts(std::vector<PackageFile>& files, const std::vector<contract::RevisionFile>& listed)
{
    if (files.size() != listed.size())
        return failDamaged("catalog and bundle differ in their number of files");
    for (std::size_t i = 0; i < files.size(); ++i) {
        auto digest = Digest::parse(listed[i].sha256);
        if (!digest || files[i].path != listed[i].path || files[i].content.size() != listed[i].sizeBytes)
            return failDamaged("catalog and bundle differ in file " + std::to_string(i));
        files[i].sha256 = *digest;
        files[i].mediaType = listed[i].mediaType;
        files[i].kind = listed[i].kind == "text" ? FileKind::Text : FileKind::Asset;
    }
    return {};
}

bool hasPath(std::span<const PackageFile> files, const std::string& path)
{
    return std::ranges::contains(files, path, &PackageFile::path);
}

/// The paths of files that are on both sides with other bytes.
std::set<std::string> changedPaths(std::span<const PackageFile> before, std::span<const PackageFile> after)
{
    std::set<std::string> out;
    std::size_t i = 0;
    for (const PackageFile& file : after) {
        while (i < before.size() && before[i].path < file.path)
            ++i;
        if (i < before.size() && before[i].path == file.path && before[i].sha256 != file.sha256)
            out.insert(file.path);
    }
    return out;
}

std::int64_t difference(std::uint64_t now, std::uint64_t before)
{
    return static_cast<std::int64_t>(now) - static_cast<std::int64_t>(before);
}

} // namespace

Result<SkillService::Content> SkillService::content(const auth::Identity& by, std::string_view name,
                                                    std::string_view revision)
{
    auto found = findRevision(by.scopeFingerprint, name, revision, store::WithFiles::Yes);
    if (!found)
        return forward(found);
    const auto listed = readFiles(found->revision.files);
    if (!listed)
        return std::unexpected(listed.error());
    Content out{.revision = makeRevision(found->revision, found->skill),
                .files = {},
                .network = found->revision.network,
                .allowedTools = found->revision.allowedTools,
                .storage = {}};
    auto files =
        verifiedFiles(by.scopeFingerprint, found->revision.digest.value_or(Digest()), out.storage, FileFacts::Skip);
    if (!files)
        return forward(files);
    if (auto known = addFacts(*files, *listed); !known)
        return forward(known);
    out.files = std::move(*files);
    return out;
}

Result<SkillService::Compared> SkillService::compared(const auth::Identity& by, std::string_view name,
                                                      std::string_view from, std::string_view to)
{
    auto after = revision(by, name, to);
    if (!after)
        return forward(after);
    if (from == "none")
        return Compared{std::nullopt, std::move(*after)};
    auto before = revision(by, name, from);
    if (!before)
        return forward(before);
    return Compared{std::move(*before), std::move(*after)};
}

Result<contract::SkillDiff> SkillService::compare(const auth::Identity& by, std::string_view name,
                                                  const Compared& revisions, const contract::DiffOptions& options)
{
    Content before;
    if (revisions.from) {
        auto read = content(by, name, revisions.from->id);
        if (!read)
            return forward(read);
        before = std::move(*read);
    }
    auto after = content(by, name, revisions.to.id);
    if (!after)
        return forward(after);
    if (!options.path.empty() && !hasPath(before.files, options.path) && !hasPath(after->files, options.path))
        return fail(ErrorCode::NotFound, "neither revision has a file of this path");
    auto package = diff::diffPackages(before.files, after->files, options);
    if (!package)
        return forward(package);
    contract::CapabilityReport couldDo;
    if (revisions.from) {
        auto report = storedCapabilities(by, name, revisions.from->id, &before);
        if (!report)
            return forward(report);
        couldDo = std::move(*report);
    }
    const auto canDo = storedCapabilities(by, name, revisions.to.id, &*after);
    if (!canDo)
        return std::unexpected(canDo.error());
    contract::SkillDiff out{std::string(name), revisions.from, revisions.to, options, std::move(*package), {}};
    out.capabilities = capabilities::diffCapabilities(couldDo, *canDo, changedPaths(before.files, after->files));
    out.capabilities.sizeChangeBytes =
        difference(revisions.to.sizeBytes, revisions.from ? revisions.from->sizeBytes : 0);
    out.capabilities.fileCountChange =
        difference(revisions.to.fileCount, revisions.from ? revisions.from->fileCount : 0);
    return out;
}

Result<contract::CapabilityReport> SkillService::capabilities(const auth::Identity& by, std::string_view name,
                                                              std::string_view revision)
{
    const auto found = findRevision(by.scopeFingerprint, name, revision, store::WithFiles::No);
    if (!found)
        return std::unexpected(found.error());
    return storedCapabilities(by, name, found->revision.id, nullptr);
}

Result<contract::CapabilityReport> SkillService::storedCapabilities(const auth::Identity& by, std::string_view name,
                                                                    std::string_view revisionId, const Content* content)
{
    const std::string_view scope = by.scopeFingerprint;
    const auto stored = m_database.read([&](store::Connection& connection) {
        return store::RevisionTable(connection).capabilities(scope, name, revisionId);
    });
    if (!stored)
        return std::unexpected(stored.error());
    if (auto report = readCapabilities(stored->value_or(""), capabilities::kRulesVersion))
        return std::move(*report);
    Content read;
    if (content == nullptr) {
        auto fetched = this->content(by, name, revisionId);
        if (!fetched)
            return forward(fetched);
        read = std::move(*fetched);
        content = &read;
    }
    auto report = capabilities::scanPackage(content->files, content->network, content->allowedTools);
    // A server that cannot write now can still answer.
    static_cast<void>(m_database.write([&](store::Connection& connection) {
        return store::RevisionTable(connection).saveCapabilities(scope, name, revisionId, writeCapabilities(report));
    }));
    return report;
}

} // namespace assay::registry
