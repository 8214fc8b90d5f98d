// SPDX-License-Identifier: Apache-2.0
#include "app/cli/local_data.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>

namespace assay::cli {

namespace {

std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

Result<std::filesystem::path> dataDirectory(const std::string& flag)
{
    std::error_code fault;
    std::filesystem::path path = !flag.empty() ? flag : variable("ASSAY_DATA");
    if (path.empty() && !variable("XDG_DATA_HOME").empty())
        path = std::filesystem::path(variable("XDG_DATA_HOME")) / "assay";
    if (path.empty() && !variable("HOME").empty())
        path = std::filesystem::path(variable("HOME")) / ".local" / "share" / "assay";
    if (path.empty())
        return fail(ErrorCode::InvalidArgument, "say which data directory: --data DIR, or ASSAY_DATA");
    path = std::filesystem::absolute(path, fault);
    if (fault)
        return fail(ErrorCode::InvalidArgument, "the path of the data directory cannot be made absolute");
    return path;
}

} // namespace

Result<std::filesystem::path> madeDataDirectory(const std::string& flag)
{
    auto path = dataDirectory(flag);
    if (!path)
        return path;
    std::error_code fault;
    std::filesystem::create_directories(path->parent_path(), fault);
    if (::mkdir(path->c_str(), 0700) != 0 && errno != EEXIST)
        return fail(ErrorCode::PermissionDenied, "the data directory " + path->string() + " cannot be made: " +
                                                     std::strerror(errno) + "; choose another one with --data");
    struct stat status{};
    if (::stat(path->c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || (status.st_mode & 077) != 0)
        return fail(ErrorCode::PermissionDenied, path->string() +
                                                     " is not a folder that only its owner may enter; run: "
                                                     "chmod 700 " +
                                                     path->string());
    return path;
}

Result<std::filesystem::path> existingDataDirectory(const std::string& flag)
{
    auto path = dataDirectory(flag);
    std::error_code ignored;
    if (path && !std::filesystem::is_directory(*path, ignored))
        return fail(ErrorCode::NotFound,
                    "there is no data directory " + path->string() + "; name the server's with --data or ASSAY_DATA");
    return path;
}

} // namespace assay::cli
