// SPDX-License-Identifier: Apache-2.0
// Durable publishes a second through the whole service against raw SQLite, with the machine's fsync and with 3 ms added
// to each; list pages and lookups in small and large scopes. Prints ratios; docs/storage.md tells what to reach.
//
//   bench_publish [publish|slow|reads] [FOLDER]      all three without an argument
#include "server/core/random.h"
#include "server/store/package_store_factory.h"
#include "tests/perf/store/bench_parts.h"

#include <cstdlib>
#include <map>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace assay;
using namespace assay::bench;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kPackageBytes = 20'000;
constexpr unsigned kClients = 32;

registry::PackageSource makePackage(const std::string& name, const std::string& content)
{
    const auto storage = std::make_shared<std::map<std::string, std::string>>();
    (*storage)["SKILL.md"] = "---\nname: " + name + "\ndescription: Measures\n---\n";
    for (unsigned i = 0; i < 5; ++i)
        (*storage)["assets/" + std::to_string(i) + ".bin"] =
            content.substr(i * (content.size() / 5), content.size() / 5);
    std::vector<registry::SourceFile> files;
    for (const auto& [path, bytes] : *storage)
        files.push_back({path, bytes, false});
    return {std::move(files), storage};
}

struct PublishRun
{
    double perSecond = 0;
    double microsecondsEach = 0; ///< of one client, on average
};

PublishRun measurePublishes(const fs::path& folder, const std::string& backend, unsigned clients, double seconds)
{
    const SystemClock clock;
    const auto database = must(store::Database::open({.file = folder / "assay.db"}));
    const auto packages = must(store::makePackageStore({backend, folder / "packages"}, *database));
    registry::SkillService service(*database, *packages, clock, {});
    const auth::Identity by{"sc_00000000000000000000000000000001", "p", "", auth::Role::Builder};
    std::atomic<std::uint64_t> published = 0;
    const auto start = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    std::vector<std::thread> threads;
    for (unsigned client = 0; client < clients; ++client)
        threads.emplace_back([&, client] {
            std::string content = randomBytes(kPackageBytes);
            for (unsigned i = 0; passed() < seconds; ++i) {
                const std::string name = "c" + std::to_string(client) + "-" + std::to_string(i);
                content.replace(0, name.size(), name);
                must(service.publish(by, name, makePackage(name, content), {}));
                ++published;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    const double count = static_cast<double>(published);
    return {count / passed(), passed() * 1e6 * clients / count};
}

fs::path freshFolder(const fs::path& parent, const char* name)
{
    const fs::path folder = parent / name;
    fs::remove_all(folder);
    fs::create_directories(folder);
    return folder;
}

double openMilliseconds(const fs::path& file)
{
    const auto start = std::chrono::steady_clock::now();
    const auto database = must(store::Database::open({.file = file}));
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void benchPublish(const fs::path& parent)
{
    const double raw = rawSqliteRate(freshFolder(parent, "raw") / "raw.db", kPackageBytes, 32, 4);
    const PublishRun ours = measurePublishes(freshFolder(parent, "database"), "database", kClients, 6);
    const double opened = openMilliseconds(parent / "database" / "assay.db");
    const PublishRun files = measurePublishes(freshFolder(parent, "filesystem"), "filesystem", kClients, 4);
    const double rawAgain = rawSqliteRate(freshFolder(parent, "raw") / "raw.db", kPackageBytes, 32, 4);
    const double rawMean = (raw + rawAgain) / 2;
    std::printf("raw SQLite, 32 rows a commit       %8.0f rows/s\n", rawMean);
    std::printf("publish, 32 clients, database      %8.0f /s   ratio %.2f (reach 0.33)\n", ours.perSecond,
                ours.perSecond / rawMean);
    std::printf("opening that database again        %8.1f ms (of the 60 ms of a start)\n", opened);
    std::printf("publish, 32 clients, filesystem    %8.0f /s\n", files.perSecond);
}

void benchSlow(const fs::path& parent)
{
    const PublishRun one = measurePublishes(freshFolder(parent, "one"), "database", 1, 4);
    const PublishRun many = measurePublishes(freshFolder(parent, "many"), "database", kClients, 6);
    std::printf("fsync + %s us, one publish a time  %8.0f /s\n", std::getenv("ASSAY_FSYNC_DELAY_US"), one.perSecond);
    std::printf("fsync + %s us, 32 clients          %8.0f /s   ratio %.1f (reach 8)\n",
                std::getenv("ASSAY_FSYNC_DELAY_US"), many.perSecond, many.perSecond / one.perSecond);
}

void benchReads(const fs::path& parent)
{
    const auto [few, many] = readTimes(freshFolder(parent, "reads"), {1000, 200'000});
    std::printf("page of 50, 1,000 skills           %8.0f us\n", few.page);
    std::printf("page of 50, 200,000 skills         %8.0f us   ratio %.2f (reach 1.5, 600 us)\n", many.page,
                many.page / few.page);
    std::printf("lookup, 1,000 skills               %8.1f us\n", few.lookup);
    std::printf("lookup, 200,000 skills             %8.1f us   ratio %.2f (reach 1.5)\n", many.lookup,
                many.lookup / few.lookup);
}

// In a process of its own, for a preloaded library stays.
void runSlow(const char* program, const fs::path& parent)
{
    const pid_t child = ::fork();
    if (child == 0) {
        ::setenv("LD_PRELOAD", ASSAY_SLOW_FSYNC, 1);
        ::setenv("ASSAY_FSYNC_DELAY_US", "3000", 1);
        ::execl(program, program, "slow-child", parent.c_str(), nullptr);
        ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0)
        std::exit(1);
}

} // namespace

int main(int argc, char** argv)
{
    const std::string what = argc > 1 ? argv[1] : "all";
    const fs::path parent = argc > 2 ? fs::path(argv[2]) : fs::current_path() / "bench-store";
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (what == "slow-child") {
        benchSlow(parent);
        return 0;
    }
    if (what == "publish" || what == "all")
        benchPublish(parent);
    if (what == "slow" || what == "all")
        runSlow("/proc/self/exe", parent);
    if (what == "reads" || what == "all")
        benchReads(parent);
    fs::remove_all(parent);
    return 0;
}
