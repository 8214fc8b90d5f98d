// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/problem_list.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace assay::registry {

/// The files of one package, compared as a case-insensitive or normalizing file system would: no two equal, and none
/// that is another's folder. Linear in the paths' bytes and depth. Not synchronized.
class PathSet
{
public:
    /// Adds a safe NFC path; a path that equals an earlier one is a `duplicate_path` problem.
    void addFile(const std::string& path, ProblemList& problems);

    /// After all files: a `path_conflict` for each file that lies below another file.
    void checkFolders(ProblemList& problems) const;

    /// A folder entry of an archive: a `path_conflict` when a file has its path or that of a folder above it.
    void checkFolder(const std::string& path, ProblemList& problems) const;

private:
    std::unordered_map<std::string, std::string> m_fileByKey;
};

} // namespace assay::registry
