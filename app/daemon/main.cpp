// SPDX-License-Identifier: Apache-2.0
// assayd: the server without a screen.
#include "app/daemon/command_line.h"
#include "app/daemon/signals.h"
#include "server/core/json.h"
#include "server/runtime/log.h"
#include "server/runtime/runtime.h"

#include <algorithm>
#include <cstdio>
#include <malloc.h>
#include <string>
#include <sys/resource.h>

namespace {

using namespace assay;

constexpr int kFailed = 1;
constexpr int kUsage = 2;

/// Many threads come and go: with an arena each, freed memory would stay spread over all of them.
void tuneMemory()
{
    ::mallopt(M_ARENA_MAX, 4);
    ::mallopt(M_TRIM_THRESHOLD, 1 << 20);
    ::mallopt(M_MMAP_THRESHOLD, 256 << 10);
}

/// Each connection, box and file takes a descriptor; the usual soft limit of 1,024 is for programs that use select(2).
void allowDescriptors()
{
    constexpr rlim_t kEnough = 65'536;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough)
        return;
    limit.rlim_cur = std::min(limit.rlim_max, kEnough);
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

bool announce(const runtime::Runtime& server)
{
    json::array urls;
    for (const std::string& url : server.listening())
        urls.emplace_back(url);
    const std::string line = json::serialize(json::object{{"listening", std::move(urls)}}) + "\n";
    return std::fputs(line.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
}

int serve(const runtime::Settings& settings, runtime::Log& log)
{
    daemon::Signals signals;
    auto server = runtime::Runtime::start(settings, log, [&signals] { signals.fail(); });
    if (!server) {
        log.write(runtime::LogLevel::Error,
                  server.error().message + (server.error().detail.empty() ? "" : " [" + server.error().detail + "]"));
        return kFailed;
    }
    if (!announce(**server))
        log.write(runtime::LogLevel::Warning, "standard output is closed: nobody is told where the server listens");
    const auto wake = signals.wait();
    log.write(runtime::LogLevel::Info, "stopping");
    (*server)->stop(settings.drain);
    log.write(runtime::LogLevel::Info, "stopped");
    return wake == daemon::Signals::Wake::Signal ? 0 : kFailed;
}

} // namespace

int main(int argc, char** argv)
{
    tuneMemory();
    allowDescriptors();
    const daemon::CommandLine asked = daemon::readCommandLine(argc, argv);
    if (asked.exitStatus)
        return *asked.exitStatus;
    auto loaded = runtime::loadSettings(asked.sources);
    if (!loaded) {
        std::fprintf(stderr, "assayd: %s\n", loaded.error().message.c_str());
        return kUsage;
    }
    const auto& settings = loaded->settings;
    runtime::Log log(runtime::logLevelNamed(settings.logLevel),
                     settings.logFormat == "json" ? runtime::LogFormat::Json : runtime::LogFormat::Text);
    for (const std::string& warning : loaded->warnings)
        log.write(runtime::LogLevel::Warning, warning);
    return serve(loaded->settings, log);
}
