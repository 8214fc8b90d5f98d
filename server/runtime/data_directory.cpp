// SPDX-License-Identifier: Apache-2.0
#include "server/runtime/data_directory.h"

#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace assay::runtime {

namespace {

std::unexpected<Error> cannot(const std::filesystem::path& path, std::string_view why)
{
    return fail(ErrorCode::Unavailable, "the data directory " + path.string() + " cannot be used: " + std::string(why));
}

Result<void> makeFolder(const std::filesystem::path& path)
{
    std::error_code error;
    if (path.has_parent_path())
        std::filesystem::create_directories(path.parent_path(), error);
    if (!error && ::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
        error = std::error_code(errno, std::generic_category());
    if (error)
        return cannot(path, error.message() + "; choose another one with --data or ASSAY_DATA");
    return {};
}

Result<void> checkPrivate(const std::filesystem::path& path)
{
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode))
        return cannot(path, "it is not a folder");
    if (found.st_uid != ::geteuid())
        return cannot(path, "another user owns it; run the server as that user, or change the owner");
    if ((found.st_mode & 0077) != 0)
        return cannot(path, "other users may enter it; run: chmod 700 " + path.string());
    if (::access(path.c_str(), W_OK) != 0)
        return cannot(path, "it cannot be written");
    return {};
}

} // namespace

Result<DataDirectory> DataDirectory::open(const std::filesystem::path& path)
{
    DataDirectory directory(path);
    if (auto made = makeFolder(path); !made)
        return forward(made);
    if (auto checked = checkPrivate(path); !checked)
        return forward(checked);
    for (const auto& folder : {directory.scratch(), directory.packages(), directory.keys()})
        if (auto made = makeFolder(folder); !made)
            return forward(made);
    return directory;
}

} // namespace assay::runtime
