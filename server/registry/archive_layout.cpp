// SPDX-License-Identifier: Apache-2.0
#include "server/registry/archive_layout.h"

#include "server/registry/path_rules.h"

#include <algorithm>

namespace assay::registry {

namespace {

bool isIgnoredSegment(std::string_view segment, bool isLast)
{
    return segment == ".git" || (isLast && (segment == ".DS_Store" || segment.starts_with("._")));
}

} // namespace

bool isIgnoredEntry(std::string_view path)
{
    if (path.starts_with('/'))
        return false;
    bool ignored = path.starts_with("__MACOSX/") || path == "__MACOSX";
    for (std::size_t start = 0; start <= path.size();) {
        const std::size_t slash = std::min(path.find('/', start), path.size());
        const std::string_view segment = path.substr(start, slash - start);
        if (segment == "..")
            return false;
        ignored = ignored || isIgnoredSegment(segment, slash >= path.size());
        start = slash + 1;
    }
    return ignored;
}

std::string_view withoutDotSlash(std::string_view path)
{
    if (path == ".")
        return {};
    return path.starts_with("./") ? path.substr(2) : path;
}

std::string findTopFolder(const std::vector<std::string_view>& files, const std::vector<std::string_view>& folders)
{
    if (files.empty())
        return {};
    const std::string_view top = files.front().substr(0, files.front().find('/'));
    const auto isBelow = [top](std::string_view path) {
        return path.size() > top.size() && path.starts_with(top) && path[top.size()] == '/';
    };
    if (!std::ranges::all_of(files, isBelow) || !judgePath(top).code.empty())
        return {};
    const bool holdsFolders =
        std::ranges::all_of(folders, [&](std::string_view path) { return path == top || isBelow(path); });
    return holdsFolders ? std::string(top) : std::string();
}

} // namespace assay::registry
