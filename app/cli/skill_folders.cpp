// SPDX-License-Identifier: Apache-2.0
#include "app/cli/skill_folders.h"

#include <algorithm>

namespace assay::cli {

namespace fs = std::filesystem;

namespace {

/// The folders directly in `folder`, without links and hidden ones. What cannot be read holds none.
std::vector<fs::path> foldersIn(const fs::path& folder)
{
    std::vector<fs::path> out;
    std::error_code fault;
    for (fs::directory_iterator each(folder, fs::directory_options::skip_permission_denied, fault), end;
         !fault && each != end; each.increment(fault)) {
        std::error_code ignored;
        const bool isFolder = each->symlink_status(ignored).type() == fs::file_type::directory;
        if (isFolder && !each->path().filename().string().starts_with('.'))
            out.push_back(each->path());
    }
    std::ranges::sort(out);
    return out;
}

Result<void> search(const fs::path& folder, int depth, std::vector<fs::path>& out)
{
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(folder / "SKILL.md", ignored))) {
        if (out.size() >= kMaxSkillFolders)
            return fail(ErrorCode::TooLarge,
                        "more than " + std::to_string(kMaxSkillFolders) + " skills stand here; import them in parts");
        out.push_back(folder);
        return {};
    }
    if (depth >= kMaxFolderDepth)
        return {};
    for (const fs::path& below : foldersIn(folder))
        if (auto searched = search(below, depth + 1, out); !searched)
            return searched;
    return {};
}

} // namespace

Result<std::vector<fs::path>> skillFoldersBelow(const fs::path& root)
{
    std::error_code ignored;
    if (!fs::is_directory(root, ignored))
        return fail(ErrorCode::InvalidArgument, root.string() + " is no folder");
    std::vector<fs::path> out;
    if (auto searched = search(root, 0, out); !searched)
        return forward(searched);
    return out;
}

} // namespace assay::cli
