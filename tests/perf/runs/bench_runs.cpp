// SPDX-License-Identifier: Apache-2.0
// bench_runs [ROUNDS [WORD]]: what a run costs end to end in the server, against the same work by hand, interleaved in
// one process so that a busy machine slows both. Prints a table of medians in milliseconds; with WORD (one-shot,
// python, session, hundred, 20kB, 1MB, 50MB, output) that part alone.
#include "server/core/random.h"
#include "server/runs/tree_cache.h"
#include "tests/integration/runs/run_world.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace assay;
using test::RunWorld;
using Steady = std::chrono::steady_clock;

namespace {

[[noreturn]] void die(const std::string& why)
{
    std::fprintf(stderr, "bench_runs: %s\n", why.c_str());
    std::exit(1);
}

double timed(const std::function<void()>& work)
{
    const auto begin = Steady::now();
    work();
    return std::chrono::duration<double, std::milli>(Steady::now() - begin).count();
}

double median(std::vector<double> values)
{
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    return values[values.size() / 2];
}

void spawnAndWait(const std::vector<std::string>& argv)
{
    std::vector<char*> pointers;
    for (const auto& each : argv)
        pointers.push_back(const_cast<char*>(each.c_str()));
    pointers.push_back(nullptr);
    std::array<char*, 2> environment{const_cast<char*>("PATH=/usr/bin:/bin"), nullptr};
    pid_t child = -1;
    int status = 0;
    if (::posix_spawnp(&child, pointers[0], nullptr, nullptr, pointers.data(), environment.data()) != 0 ||
        ::waitpid(child, &status, 0) != child || status != 0)
        die("by hand: " + argv[0] + " failed");
}

/// A box by hand with the same mounts, without limits, filter, init or verification.
std::vector<std::string> bwrapByHand(const std::vector<std::string>& command)
{
    std::vector<std::string> out{"bwrap",         "--unshare-all", "--as-pid-1", "--die-with-parent",
                                 "--new-session", "--uid",         "10001",      "--gid",
                                 "10001",         "--clearenv",    "--setenv",   "PATH",
                                 "/usr/bin:/bin", "--cap-drop",    "ALL",        "--ro-bind",
                                 "/usr",          "/usr",          "--symlink",  "usr/bin",
                                 "/bin",          "--symlink",     "usr/sbin",   "/sbin",
                                 "--symlink",     "usr/lib",       "/lib",       "--symlink",
                                 "usr/lib64",     "/lib64",        "--proc",     "/proc",
                                 "--dev",         "/dev",          "--tmpfs",    "/workspace",
                                 "--tmpfs",       "/tmp",          "--chdir",    "/workspace"};
    out.insert(out.end(), command.begin(), command.end());
    return out;
}

void mustSucceed(const Result<contract::Run>& run)
{
    if (!run)
        die(run.error().message + " [" + run.error().detail + "]");
    if (run->state != "succeeded")
        die("a run is " + run->state + ": " + run->message);
}

/// With BENCH_PHASES set: where a run's time went, in whole milliseconds.
void printPhases(const char* what, const Result<contract::Run>& run)
{
    mustSucceed(run);
    if (!std::getenv("BENCH_PHASES"))
        return;
    std::printf("    %s:", what);
    for (const auto& phase : run->phases)
        std::printf(" %s %lld", phase.name.c_str(), static_cast<long long>((*phase.endedAt - phase.startedAt).count()));
    std::printf("\n");
}

/// Where the time of an extraction goes: the store's verified read alone, and with the writing.
void printFetchAndExtraction(RunWorld& world, const std::string& name)
{
    const auto scope = RunWorld::someone().scopeFingerprint;
    const auto pinned = world.skills().pin(scope, {name});
    if (!pinned)
        die(pinned.error().message);
    const Digest digest = pinned->front().digest;
    const auto fetch = [&](const store::PieceSink& each) { return world.skills().readBundle(scope, digest, each); };
    const double fetched = timed([&] { (void)fetch([](std::string_view) { return Result<void>{}; }); });
    for (const std::uint64_t memory : {1ULL << 30, 0ULL}) {
        const auto cache = runs::TreeCache::open({world.directory() / "bench-cache", 0, memory});
        if (!cache)
            die(cache.error().message);
        const double all = timed([&] {
            if (const auto lease = (*cache)->acquire({scope, "bench", digest}, fetch, 64ULL << 20); !lease)
                die(lease.error().message);
        });
        std::printf("    %s: read and verified in %.1f ms, with the extraction %s %.1f ms\n", name.c_str(), fetched,
                    memory > 0 ? "to memory" : "to disk and the removal", all);
    }
}

struct Row
{
    const char* what;
    double ours;
    double byHand;
};

void print(const Row& row)
{
    std::printf("%-44s %9.2f %9.2f %+9.2f %8.2fx\n", row.what, row.ours, row.byHand, row.ours - row.byHand,
                row.byHand > 0 ? row.ours / row.byHand : 0);
    std::fflush(stdout);
}

Row compare(const char* what, int rounds, const std::function<void()>& ours, const std::function<void()>& byHand)
{
    std::vector<double> a;
    std::vector<double> b;
    for (int i = 0; i < rounds + 2; ++i) {
        const double one = timed(ours);
        const double two = timed(byHand);
        if (i >= 2) { // the first two warm caches
            a.push_back(one);
            b.push_back(two);
        }
    }
    return {what, median(a), median(b)};
}

contract::StartRun skillRun(const std::string& skill)
{
    contract::StartRun request;
    request.skills = {skill};
    return request;
}

void materialize(RunWorld& world, int rounds, std::size_t bytes, const char* fresh, const char* cached)
{
    std::vector<double> a;
    std::vector<double> b;
    std::vector<double> none;
    const std::string name = "size-" + std::to_string(bytes);
    for (int i = 0; i < rounds; ++i) {
        std::map<std::string, std::string> files{{"SKILL.md", test::skillMd(name)}};
        const std::size_t pieces = std::max<std::size_t>(5, bytes / (4 << 20));
        for (std::size_t piece = 0; piece < pieces; ++piece)
            files["data/" + std::to_string(piece) + ".bin"] = randomBytes(bytes / pieces);
        world.publish(name, std::move(files));
        if (std::getenv("BENCH_PHASES"))
            printFetchAndExtraction(world, name);
        none.push_back(timed([&] { mustSucceed(world.runArgv({"/bin/true"})); }));
        a.push_back(timed([&] { printPhases(fresh, world.runArgv({"/bin/true"}, skillRun(name))); }));
        b.push_back(timed([&] { printPhases(cached, world.runArgv({"/bin/true"}, skillRun(name))); }));
    }
    print({fresh, median(a), median(none)});
    print({cached, median(b), median(none)});
}

void session(RunWorld& world, int rounds)
{
    contract::StartRun request;
    request.session = true;
    const auto run = world.runs().start(RunWorld::someone(), request);
    if (!run)
        die(run.error().message);
    contract::StartCommand command;
    command.argv = {"/bin/true"};
    command.waitMs = 10'000;
    const auto one = [&] {
        const auto result = world.runs().startCommand(RunWorld::someone(), run->id, command);
        if (!result || result->termination != "exited")
            die("a session's command failed");
    };
    print(compare("command in a live session, /bin/true", rounds * 4, one, [] { spawnAndWait({"/bin/true"}); }));
    command.argv = {"python3", "-I", "-c", "pass"};
    print(compare("command in a live session, python3 -I", rounds, one,
                  [] { spawnAndWait({"python3", "-I", "-c", "pass"}); }));
    (void)world.runs().finish(RunWorld::someone(), run->id);
}

void hundred(RunWorld& world)
{
    std::vector<double> all;
    for (int round = 0; round < 3; ++round)
        all.push_back(timed([&] {
            std::vector<std::jthread> clients;
            for (int client = 0; client < 100; ++client)
                clients.emplace_back([&] { mustSucceed(world.runArgv({"/bin/true"})); });
        }));
    print({"100 one-shots at once (by hand: 0)", median(all), 0});
}

void oneShot(RunWorld& world, int rounds)
{
    print(compare(
        "one-shot run of /bin/true", rounds, [&] { mustSucceed(world.runArgv({"/bin/true"})); },
        [] { spawnAndWait(bwrapByHand({"/bin/true"})); }));
}

void python(RunWorld& world, int rounds)
{
    world.publish("py", {{"SKILL.md", test::skillMd("py")}, {"a.py", "print(1)\n"}});
    auto request = skillRun("py");
    request.command = contract::RunCommand{};
    request.command->skill = "py";
    request.command->script = "a.py";
    request.waitMs = 60'000;
    print(compare(
        "one-shot run of a Python script", rounds,
        [&] { mustSucceed(world.runs().start(RunWorld::someone(), request)); },
        [] {
            spawnAndWait(bwrapByHand({"/bin/true"}));
            spawnAndWait({"python3", "-I", "-c", "pass"});
        }));
}

void output(RunWorld& world, int rounds)
{
    print(compare(
        "10 MiB of standard output (cat through a pipe)", std::min(rounds, 10),
        [&] { mustSucceed(world.runArgv({"head", "-c", "10485760", "/dev/zero"})); },
        [] { spawnAndWait({"sh", "-c", "head -c 10485760 /dev/zero | cat >/dev/null"}); }));
}

} // namespace

int main(int argc, char** argv)
{
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 30;
    const std::string_view word = argc > 2 ? argv[2] : "";
    if (rounds < 3 || rounds > 10'000)
        die("ROUNDS is 3 to 10000");
    RunWorld world;
    if (const auto why = world.unavailable(); !why.empty())
        die("no boxes on this machine: " + why);
    const std::array<std::pair<std::string_view, std::function<void()>>, 8> parts{{
        {"one-shot", [&] { oneShot(world, rounds); }},
        {"python", [&] { python(world, rounds); }},
        {"session", [&] { session(world, rounds); }},
        {"hundred", [&] { hundred(world); }},
        {"20kB",
         [&] {
             materialize(world, rounds, 20'000, "package of 20 kB, extracted (none)",
                         "package of 20 kB, cached (none)");
         }},
        {"1MB",
         [&] {
             materialize(world, rounds, 1 << 20, "package of 1 MB, extracted (none)", "package of 1 MB, cached (none)");
         }},
        {"50MB",
         [&] {
             materialize(world, std::min(rounds, 7), 49 << 20, "package of 50 MB, extracted (none)",
                         "package of 50 MB, cached (none)");
         }},
        {"output", [&] { output(world, rounds); }},
    }};
    std::printf("%-44s %9s %9s %9s %9s\n", "what (medians, ms)", "assay", "by hand", "more", "ratio");
    for (const auto& [name, run] : parts)
        if (word.empty() || word == name)
            run();
    return 0;
}
