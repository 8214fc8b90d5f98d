// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/init/exec.h"

#include "server/sandbox/channel/payload.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::sandbox::init {

using channel::ExecStage;

namespace {

char* g_arguments[channel::kMaxArguments + 1];
char* g_variables[channel::kMaxVariables + 1];
alignas(16) char g_childStack[128 * 1024];

/// Shared with the child, which runs in our memory until its exec.
struct Child
{
    const ExecRequest* request;
    const int* standard;
    int error;
    ExecStage stage;
};

/// A string of the protocol ends with a zero inside its length, so that it can be used where it lies.
char* zeroTerminated(std::string_view text)
{
    if (text.empty() || text.back() != '\0' || text.find('\0') != text.size() - 1)
        return nullptr;
    return const_cast<char*>(text.data());
}

bool decodeList(channel::PayloadReader& reader, char** list, std::uint32_t most)
{
    const auto count = reader.number<std::uint32_t>();
    if (!reader.ok() || count > most)
        return false;
    for (std::uint32_t i = 0; i < count; ++i) {
        list[i] = zeroTerminated(reader.text());
        if (list[i] == nullptr)
            return false;
    }
    list[count] = nullptr;
    return true;
}

std::string_view valueOf(char* const* variables, std::string_view nameAndEquals)
{
    for (; *variables != nullptr; ++variables) {
        const std::string_view variable(*variables);
        if (variable.starts_with(nameAndEquals))
            return variable.substr(nameAndEquals.size());
    }
    return {};
}

[[noreturn]] void give(Child& child, ExecStage stage)
{
    child.error = errno;
    child.stage = stage;
    ::_exit(127);
}

bool limit(int what, std::uint64_t value)
{
    const rlimit both{value, value};
    return ::setrlimit(static_cast<__rlimit_resource>(what), &both) == 0;
}

bool applyLimits(const ExecRequest& request)
{
    return limit(RLIMIT_CORE, 0) && (request.maxOpenFiles == 0 || limit(RLIMIT_NOFILE, request.maxOpenFiles)) &&
           (request.maxFileBytes == 0 || limit(RLIMIT_FSIZE, request.maxFileBytes));
}

void resetSignals()
{
    for (const int number : kIgnoredSignals)
        ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Tries one path; on return `child` says why it was not this one.
void tryProgram(Child& child, const char* path)
{
    // What an earlier path of the search left would make a start that succeeds look like a failure.
    child.error = 0;
    ::execve(path, child.request->arguments, child.request->variables);
    child.error = errno;
    // The file is there, so what is missing is the interpreter that its first line or its header names.
    child.stage = child.error == ENOENT && ::access(path, F_OK) == 0 ? ExecStage::Interpreter : ExecStage::Program;
}

void searchProgram(Child& child, std::string_view name)
{
    std::string_view rest = child.request->searchPath;
    int denied = 0;
    while (!rest.empty()) {
        const std::string_view folder = rest.substr(0, rest.find(':'));
        rest.remove_prefix(folder.size() == rest.size() ? rest.size() : folder.size() + 1);
        char path[channel::kMaxPathBytes];
        if (folder.empty() || folder.size() + name.size() + 2 > sizeof path)
            continue;
        std::memcpy(path, folder.data(), folder.size());
        path[folder.size()] = '/';
        std::memcpy(path + folder.size() + 1, name.data(), name.size());
        path[folder.size() + 1 + name.size()] = '\0';
        tryProgram(child, path);
        if (child.error == EACCES)
            denied = EACCES;
        else if (child.stage == ExecStage::Interpreter || (child.error != ENOENT && child.error != ENOTDIR))
            return;
    }
    child.stage = ExecStage::Program;
    child.error = denied != 0 ? denied : ENOENT;
}

int runChild(void* argument)
{
    Child& child = *static_cast<Child*>(argument);
    const ExecRequest& request = *child.request;
    if (::setsid() < 0)
        give(child, ExecStage::Session);
    for (int fd = 0; fd < 3; ++fd) {
        if (::dup2(child.standard[fd], fd) < 0)
            give(child, ExecStage::Pipes);
    }
    // Everything of ours is close-on-exec already; this is the second lock on the same door.
    ::syscall(SYS_close_range, 3U, ~0U, 0U);
    ::umask(request.umask);
    if (!applyLimits(request))
        give(child, ExecStage::Limits);
    if (::chdir(request.directory) != 0)
        give(child, ExecStage::Directory);
    resetSignals();
    const std::string_view name(request.arguments[0]);
    if (name.find('/') != std::string_view::npos)
        tryProgram(child, request.arguments[0]);
    else
        searchProgram(child, name);
    ::_exit(127);
}

} // namespace

bool decodeExecRequest(std::string_view payload, ExecRequest& request, std::uint32_t& stdoutCredit,
                       std::uint32_t& stderrCredit)
{
    channel::PayloadReader reader(payload);
    stdoutCredit = reader.number<std::uint32_t>();
    stderrCredit = reader.number<std::uint32_t>();
    request.umask = reader.number<std::uint32_t>() & 0777;
    request.maxOpenFiles = reader.number<std::uint64_t>();
    request.maxFileBytes = reader.number<std::uint64_t>();
    request.directory = zeroTerminated(reader.text());
    if (request.directory == nullptr || !decodeList(reader, g_arguments, channel::kMaxArguments) ||
        !decodeList(reader, g_variables, channel::kMaxVariables) || !reader.finished() || g_arguments[0] == nullptr ||
        stdoutCredit > channel::kMaxCredit || stderrCredit > channel::kMaxCredit)
        return false;
    request.arguments = g_arguments;
    request.variables = g_variables;
    request.searchPath = valueOf(g_variables, "PATH=");
    return true;
}

ExecOutcome startProcess(const ExecRequest& request, const int (&standard)[3])
{
    Child child{&request, standard, 0, ExecStage::Fork};
    const pid_t pid = ::clone(runChild, g_childStack + sizeof g_childStack, CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
    if (pid < 0)
        return {-1, errno, ExecStage::Fork};
    if (child.error == 0)
        return {pid, 0, {}};
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return {-1, child.error, child.stage};
}

} // namespace assay::sandbox::init
