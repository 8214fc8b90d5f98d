// SPDX-License-Identifier: Apache-2.0
#include "server/api/package_upload.h"

#include "server/api/content_type.h"

#include <set>

namespace assay::api {

namespace {

registry::PackageSource sourceOf(contract::PublishSkill&& body)
{
    const auto storage = std::make_shared<const contract::PublishSkill>(std::move(body));
    const std::set<std::string_view> executable(storage->executable.begin(), storage->executable.end());
    std::vector<registry::SourceFile> files;
    const auto add = [&](const std::string& path, const std::string& content) {
        files.push_back({path, content, executable.contains(path)});
    };
    for (const auto& [path, content] : storage->files)
        add(path, content);
    if (storage->content)
        add("SKILL.md", *storage->content);
    for (const auto& [path, content] : storage->assets)
        add(path, content);
    return {std::move(files), storage};
}

Result<PackageUpload> fromJson(Request& request, contract::NameFrom nameFrom, std::string_view pathName)
{
    auto value = jsonBody(request);
    if (!value)
        return forward(value);
    request.body.bytes = {}; // a large package is held once less
    auto body = contract::readPublishSkill(*value, nameFrom, pathName);
    if (!body)
        return forward(body);
    registry::PublishOptions options;
    options.note = body->note.value_or("");
    options.enabled = body->enabled;
    options.visibility = body->visibility;
    auto name = body->name;
    return PackageUpload{std::move(name), sourceOf(std::move(*body)), std::move(options)};
}

} // namespace

Result<PackageUpload> readUpload(const Services& services, Request& request, contract::NameFrom nameFrom,
                                 std::string_view pathName)
{
    const auto kind = archiveKind(request.head.header("content-type"));
    if (!kind)
        return fromJson(request, nameFrom, pathName);
    auto source =
        registry::readArchive(request.body.file.get(), *kind, services.packageLimits, services.scratchDirectory);
    if (!source)
        return forward(source);
    return PackageUpload{std::nullopt, std::move(*source), {}};
}

} // namespace assay::api
