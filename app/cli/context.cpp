// SPDX-License-Identifier: Apache-2.0
#include "app/cli/context.h"

#include "server/core/file_io.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>

namespace assay::cli {

namespace {

Result<std::string> readDescriptor(int fd, const std::string& name, std::uint64_t limitBytes)
{
    std::string out;
    std::string piece(64 << 10, '\0');
    while (true) {
        const ssize_t count = ::read(fd, piece.data(), piece.size());
        if (count == 0)
            return out;
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return fail(ErrorCode::InvalidArgument, name + " cannot be read");
        out.append(piece, 0, static_cast<std::size_t>(count));
        if (out.size() > limitBytes)
            return fail(ErrorCode::TooLarge, name + " is over " + sizeText(limitBytes) + ", the most that is sent");
    }
}

} // namespace

Result<ApiClient*> Context::api()
{
    if (!m_api) {
        auto settings = loadSettings(flags, [](const char* name) { return std::getenv(name); });
        if (!settings)
            return forward(settings);
        m_http = std::make_unique<HttpClient>(std::move(*settings), m_interrupted);
        m_api = std::make_unique<ApiClient>(*m_http);
    }
    return m_api.get();
}

void Context::print(const json::value& value, const std::function<std::string(const json::value&)>& describe)
{
    console.endProgress();
    console.out(asJson() ? prettyJson(value) : describe(value));
}

Result<std::string> readInput(const std::string& path, std::uint64_t limitBytes)
{
    if (path == "-")
        return readDescriptor(0, "standard input", limitBytes);
    auto fd = openFile(path, O_RDONLY);
    if (!fd)
        return fail(ErrorCode::InvalidArgument,
                    fd.error().code == ErrorCode::NotFound ? "there is no file " + path : path + " cannot be opened");
    return readDescriptor(fd->get(), path, limitBytes);
}

Result<void> writeOutput(const std::string& path, std::string_view bytes, Existing existing)
{
    std::error_code ignored;
    if (existing == Existing::Refuse && std::filesystem::exists(std::filesystem::symlink_status(path, ignored)))
        return fail(ErrorCode::Conflict, path + " exists; name another file with -o, or replace it with --force");
    // Absolute, because the folder is synced too, and a bare name has none.
    auto written = replaceFileDurably(std::filesystem::absolute(path, ignored), bytes, 0644);
    if (!written)
        return fail(written.error().code, path + " cannot be written", written.error().detail);
    return {};
}

} // namespace assay::cli
