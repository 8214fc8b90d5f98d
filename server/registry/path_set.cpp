// SPDX-License-Identifier: Apache-2.0
#include "server/registry/path_set.h"

#include "server/core/text.h"

namespace assay::registry {

namespace {

Problem conflict(const std::string& path, const std::string& file)
{
    return {.code = "path_conflict",
            .message = inQuotes(file) + " is a file and also the folder of " + inQuotes(path) + "; rename one of them",
            .path = path};
}

} // namespace

void PathSet::addFile(const std::string& path, ProblemList& problems)
{
    const auto [earlier, isNew] = m_fileByKey.try_emplace(caseFoldKey(path), path);
    if (isNew)
        return;
    problems.add({.code = "duplicate_path",
                  .message = earlier->second == path
                                 ? "the package has this file twice; remove one"
                                 : inQuotes(path) + " and " + inQuotes(earlier->second) +
                                       " are one file where case or Unicode form does not count; rename one",
                  .path = path});
}

void PathSet::checkFolders(ProblemList& problems) const
{
    for (const auto& [key, path] : m_fileByKey) {
        for (std::size_t slash = key.find('/'); slash != std::string::npos; slash = key.find('/', slash + 1)) {
            if (const auto file = m_fileByKey.find(key.substr(0, slash)); file != m_fileByKey.end())
                problems.add(conflict(path, file->second));
        }
    }
}

void PathSet::checkFolder(const std::string& path, ProblemList& problems) const
{
    const std::string key = caseFoldKey(path);
    for (std::size_t slash = key.find('/');; slash = key.find('/', slash + 1)) {
        if (const auto file = m_fileByKey.find(key.substr(0, slash)); file != m_fileByKey.end())
            problems.add(conflict(path + "/", file->second));
        if (slash == std::string::npos)
            return;
    }
}

} // namespace assay::registry
