// SPDX-License-Identifier: Apache-2.0
#include "server/api/content_type.h"

namespace assay::api {

namespace {

/// The type without its parameters, in lower case (RFC 9110, section 8.3.1).
std::string essence(std::string_view contentType)
{
    std::string out(contentType.substr(0, contentType.find(';')));
    while (out.ends_with(' ') || out.ends_with('\t'))
        out.pop_back();
    for (char& c : out)
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    return out;
}

} // namespace

std::optional<registry::ArchiveKind> archiveKind(std::string_view contentType)
{
    const std::string type = essence(contentType);
    if (type == "application/zip")
        return registry::ArchiveKind::Zip;
    if (type == "application/x-tar")
        return registry::ArchiveKind::Tar;
    if (type == "application/gzip")
        return registry::ArchiveKind::TarGz;
    return std::nullopt;
}

bool isJsonType(std::string_view contentType, Method method)
{
    const std::string type = essence(contentType);
    const bool isMergePatch = method == Method::Patch && type == "application/merge-patch+json";
    return type.empty() || type == "application/json" || isMergePatch;
}

} // namespace assay::api
