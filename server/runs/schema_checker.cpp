// SPDX-License-Identifier: Apache-2.0
#include "server/runs/schema_checker.h"

#include "server/core/file_io.h"
#include "server/core/unique_fd.h"
#include "server/registry/schema_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <format>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::runs {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kAnswerBytes = 64U << 10;
constexpr milliseconds kDeadline{4'000};

struct Answer
{
    int status = 0; ///< as waitpid gives it
    std::string text;
};

/// Holds the request where the child can read it at its own pace and nobody has to feed a pipe.
Result<UniqueFd> requestFile(std::string_view schema, std::string_view instance)
{
    UniqueFd fd(::memfd_create("assay-schema-check", MFD_CLOEXEC));
    if (!fd)
        return failErrno("memfd_create", errno);
    const std::string length = std::format("{}\n", schema.size());
    for (const std::string_view part : {std::string_view(length), schema, instance})
        if (auto written = writeAll(fd.get(), part); !written)
            return forward(written);
    if (::lseek(fd.get(), 0, SEEK_SET) != 0)
        return failErrno("lseek", errno);
    return fd;
}

class SpawnActions
{
public:
    SpawnActions(int input, int output)
    {
        ::posix_spawn_file_actions_init(&m_actions);
        ::posix_spawn_file_actions_adddup2(&m_actions, input, STDIN_FILENO);
        ::posix_spawn_file_actions_adddup2(&m_actions, output, STDOUT_FILENO);
        ::posix_spawn_file_actions_addopen(&m_actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        ::posix_spawn_file_actions_addclosefrom_np(&m_actions, STDERR_FILENO + 1);
    }
    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;
    ~SpawnActions() { ::posix_spawn_file_actions_destroy(&m_actions); }
    const posix_spawn_file_actions_t* get() const { return &m_actions; }

private:
    posix_spawn_file_actions_t m_actions{};
};

/// Reads to the end of the pipe, to the limit or to the deadline; false when the child has to be ended.
bool readAnswer(int fd, std::string& out)
{
    const auto end = steady_clock::now() + kDeadline;
    std::array<char, 4096> buffer{};
    while (out.size() < kAnswerBytes) {
        const auto left = std::chrono::duration_cast<milliseconds>(end - steady_clock::now()).count();
        pollfd ready{fd, POLLIN, 0};
        const int polled = left > 0 ? ::poll(&ready, 1, static_cast<int>(left)) : 0;
        if (polled < 0 && errno == EINTR)
            continue;
        if (polled <= 0)
            return false;
        const auto count = ::read(fd, buffer.data(), buffer.size());
        if (count == 0)
            return true;
        if (count < 0)
            return false;
        out.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return false;
}

Result<Answer> ask(const std::filesystem::path& program, int request)
{
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return failErrno("pipe2", errno);
    const UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    const SpawnActions actions(request, writing.get());
    std::string name = program.string();
    const std::array<char*, 2> argv{name.data(), nullptr};
    const std::array<char*, 1> environment{nullptr};
    pid_t child = -1;
    if (const int error = ::posix_spawn(&child, name.c_str(), actions.get(), nullptr, argv.data(), environment.data()))
        return fail(ErrorCode::Unavailable,
                    "schemas cannot be checked on this server: assay-schema-check cannot be started",
                    std::format("{}: errno {}", name, error));
    writing.reset();
    Answer answer;
    if (!readAnswer(reading.get(), answer.text))
        ::kill(child, SIGKILL);
    while (::waitpid(child, &answer.status, 0) < 0 && errno == EINTR)
        ;
    return answer;
}

std::unexpected<Error> findings(std::string_view text, std::string_view pointer)
{
    Error error{.code = ErrorCode::InvalidArgument,
                .message = "this does not fit the schema that the skill declares",
                .detail = {},
                .reason = {},
                .problems = {}};
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = text.substr(0, end);
        const auto tab = std::min(line.find('\t'), line.size());
        error.problems.push_back({.code = "invalid_argument",
                                  .message = std::string(line.substr(std::min(tab + 1, line.size()))),
                                  .path = {},
                                  .pointer = std::string(pointer) + std::string(line.substr(0, tab))});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::unexpected(std::move(error));
}

std::unexpected<Error> unusable(const std::string& why)
{
    return refuse("schema_unusable", "a schema that the skill declares cannot be used: " + why);
}

Result<void> check(const std::filesystem::path& program, std::string_view schema, std::string_view instance,
                   std::string_view pointer)
{
    if (schema.size() > registry::kMaxSchemaBytes)
        return unusable(std::format("it is {} bytes; the limit is {}", schema.size(), registry::kMaxSchemaBytes));
    auto request = requestFile(schema, instance);
    if (!request)
        return forward(request);
    const auto answer = ask(program, request->get());
    if (!answer)
        return std::unexpected(answer.error());
    if (!WIFEXITED(answer->status))
        return unusable("the check was not done within 2 s of processor time and 512 MiB");
    switch (WEXITSTATUS(answer->status)) {
    case 0:
        return {};
    case 1:
        return findings(answer->text, pointer);
    case 2:
        return unusable(answer->text.substr(0, answer->text.find('\n')));
    default:
        return fail(ErrorCode::Internal, "the schema could not be checked", answer->text);
    }
}

} // namespace

SchemaCheck makeSchemaCheck(const std::filesystem::path& program)
{
    return [program](std::string_view schema, std::string_view instance, std::string_view pointer) {
        return check(program, schema, instance, pointer);
    };
}

std::filesystem::path defaultSchemaChecker()
{
    std::error_code code;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", code);
    return self.parent_path() / "assay-schema-check";
}

} // namespace assay::runs
