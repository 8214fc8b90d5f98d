// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/package_check.h"

#include "server/sandbox/result_path.h"

#include <unordered_map>
#include <unordered_set>

namespace assay::sandbox {

using channel::EntryKind;

namespace {

struct Expected
{
    std::unordered_map<std::string, const PinnedFile*> files;
    std::unordered_set<std::string> folders;
};

Expected expectedTree(const std::vector<PinnedPackage>& pinned)
{
    Expected expected;
    for (const PinnedPackage& package : pinned) {
        expected.folders.insert(package.name);
        for (const PinnedFile& file : package.files) {
            std::string path = package.name + "/" + file.path;
            for (auto slash = path.find('/', package.name.size() + 1); slash != std::string::npos;
                 slash = path.find('/', slash + 1))
                expected.folders.insert(path.substr(0, slash));
            expected.files.emplace(std::move(path), &file);
        }
    }
    return expected;
}

std::unexpected<Error> mismatch(std::string_view path, std::string_view what)
{
    return refuse("digest_mismatch", "in the box, /skills/" + printablePath(path) + " " + std::string(what) +
                                         "; nothing was executed. Start the run again; if it repeats, check the "
                                         "server's package store");
}

Result<void> checkFile(const TreeEntry& seen, const PinnedFile* pinned)
{
    if (pinned == nullptr)
        return mismatch(seen.path, "is not a file of the manifest");
    if (seen.sizeBytes != pinned->sizeBytes || seen.sha256 != pinned->sha256)
        return mismatch(seen.path, "does not have the bytes of the manifest");
    if (seen.mode != (pinned->executable ? 0555U : 0444U))
        return mismatch(seen.path, "does not have the mode of the manifest");
    return {};
}

Result<void> checkEntry(const TreeEntry& seen, Expected& expected)
{
    if (seen.kind == EntryKind::File) {
        const auto found = expected.files.find(seen.path);
        auto checked = checkFile(seen, found == expected.files.end() ? nullptr : found->second);
        if (checked)
            expected.files.erase(found);
        return checked;
    }
    if (seen.kind != EntryKind::Directory || expected.folders.erase(seen.path) == 0)
        return mismatch(seen.path, "is nothing that the manifest names");
    if (seen.mode != 0555)
        return mismatch(seen.path, "is a folder that could be written");
    return {};
}

} // namespace

Result<void> checkPackages(const TreeListing& seen, const std::vector<PinnedPackage>& pinned)
{
    if (pinned.empty() && !seen.isThere)
        return {};
    if (!seen.isFolder || seen.truncated)
        return mismatch("", seen.isFolder ? "holds more than the manifest" : "is not a folder");
    Expected expected = expectedTree(pinned);
    for (const TreeEntry& entry : seen.entries) {
        if (auto checked = checkEntry(entry, expected); !checked)
            return checked;
    }
    if (!expected.files.empty())
        return mismatch(expected.files.begin()->first, "is missing");
    if (!expected.folders.empty())
        return mismatch(*expected.folders.begin(), "is missing");
    if (!seen.allReadOnly)
        return mismatch("", "lies on a file system that can be written");
    return {};
}

} // namespace assay::sandbox
