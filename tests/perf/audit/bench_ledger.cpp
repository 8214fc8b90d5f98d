// SPDX-License-Identifier: Apache-2.0
// Appends a second at 32 writers against one fsync a row; pages of 50 with every filter at ROWS rows; the verification
// of all of them. Prints ratios and times; docs/performance.md tells what to reach.
//
//   bench_ledger [append|pages] [ROWS [FOLDER]]      both with 1,000,000 rows without an argument
#include "server/audit/ledger.h"
#include "server/audit/reader.h"
#include "server/audit/signing_key.h"
#include "server/audit/verifier.h"
#include "server/core/ids.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

using namespace assay;
using namespace assay::audit;
namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

namespace {

constexpr const char* kScope = "sc_00000000000000000000000000000001";
constexpr unsigned kWriters = 32;
constexpr double kSeconds = 4;

template <typename T> T must(Result<T> result)
{
    if (result)
        return std::move(*result);
    std::fprintf(stderr, "bench_ledger: %s [%s]\n", result.error().message.c_str(), result.error().detail.c_str());
    std::exit(1);
}

void must(const Result<void>& result)
{
    if (result)
        return;
    std::fprintf(stderr, "bench_ledger: %s [%s]\n", result.error().message.c_str(), result.error().detail.c_str());
    std::exit(1);
}

double secondsSince(Steady::time_point start) { return std::chrono::duration<double>(Steady::now() - start).count(); }

fs::path freshFolder(const fs::path& parent, const char* name)
{
    const fs::path folder = parent / name;
    fs::remove_all(folder);
    fs::create_directories(folder);
    return folder;
}

Record recordOf(std::uint64_t i, const std::string& run)
{
    const auth::Identity by{kScope, "actor-" + std::to_string(i % 50), "tok_01JAAAAAAAAAAAAAAAAAAAAAAA", {}, {}};
    const bool isCommand = i % 4 != 0;
    auto out = recordBy(by, isCommand ? Operation::CommandExecute : Operation::SkillPublish,
                        i % 7 == 0 ? Decision::Refused : Decision::Allowed,
                        isCommand ? ResourceType::Command : ResourceType::Skill,
                        isCommand ? "cmd_01JAAAAAAAAAAAAAAAAAAAAAAA" : "demo");
    if (isCommand) {
        out.run = run;
        out.metadata.cwd = "/workspace";
        out.metadata.egressMode = "none";
    }
    return out;
}

/// Rows a second that `writers` threads append, each waiting until its row is durable.
double appendRate(const fs::path& folder, unsigned writers)
{
    const SystemClock clock;
    const auto database = must(store::Database::open({.file = folder / "assay.db"}));
    Ledger ledger(*database, clock);
    std::atomic<std::uint64_t> rows = 0;
    const auto start = Steady::now();
    {
        std::vector<std::jthread> threads;
        for (unsigned writer = 0; writer < writers; ++writer)
            threads.emplace_back([&, writer] {
                const std::string run = newId("run_", clock.now());
                for (std::uint64_t i = writer; secondsSince(start) < kSeconds; ++i, ++rows)
                    must(ledger.record(recordOf(i, run)));
            });
    }
    return static_cast<double>(rows) / secondsSince(start);
}

void benchAppend(const fs::path& parent)
{
    const double one = appendRate(freshFolder(parent, "one"), 1);
    const double many = appendRate(freshFolder(parent, "many"), kWriters);
    const double again = appendRate(freshFolder(parent, "one"), 1);
    const double alone = (one + again) / 2;
    std::printf("one row a commit, one writer     %9.0f rows/s\n", alone);
    std::printf("%u writers, shared commits       %9.0f rows/s   ratio %.1f (reach 15)\n", kWriters, many,
                many / alone);
}

/// `rows` rows of one scope, 100 commands a run, one row by a rare actor at the old end.
void fill(store::Database& database, std::uint64_t rows)
{
    const SystemClock clock;
    Ledger ledger(database, clock);
    auto rare = recordOf(0, {});
    rare.actor = "rare";
    must(ledger.record(rare));
    std::string run;
    constexpr std::uint64_t kAtOnce = 5000;
    for (std::uint64_t done = 0; done < rows; done += kAtOnce)
        must(database.write([&](store::Connection& connection) -> Result<void> {
            for (std::uint64_t i = done; i < std::min(rows, done + kAtOnce); ++i) {
                if (i % 100 == 0)
                    run = newId("run_", clock.now());
                if (auto added = ledger.append(connection, recordOf(i, run)); !added)
                    return added;
            }
            return {};
        }));
}

/// The slowest and the median page of a walk of at most ten pages.
void page(Reader& reader, const char* what, const contract::AuditFilter& filter)
{
    std::vector<double> times;
    std::size_t rows = 0;
    contract::PageRequest request;
    for (int i = 0; i < 10; ++i) {
        const auto start = Steady::now();
        const auto listed = must(reader.list(kScope, filter, request));
        times.push_back(secondsSince(start) * 1000);
        rows += listed.items.size();
        if (!listed.nextPageToken)
            break;
        request.token = *listed.nextPageToken;
    }
    std::ranges::sort(times);
    std::printf("page of 50, %-34s %7.2f ms median, %7.2f ms worst of %2zu, %3zu rows (reach 50)\n", what,
                times[times.size() / 2], times.back(), times.size(), rows);
}

void benchPages(const fs::path& parent, std::uint64_t rows)
{
    const fs::path folder = freshFolder(parent, "pages");
    const auto key = must(SigningKey::open(folder / "key"));
    const auto database = must(store::Database::open({.file = folder / "assay.db"}));
    auto start = Steady::now();
    fill(*database, rows);
    std::printf("%llu rows written in            %9.1f s\n", static_cast<unsigned long long>(rows),
                secondsSince(start));
    Reader reader(*database, key.publicKey());
    const auto newest = must(reader.list(kScope, {}, {}));
    const Timestamp now = newest.items.front().at;
    page(reader, "no filter", {});
    page(reader, "decision", {.decision = "refused"});
    page(reader, "operation", {.operation = "skill.publish"});
    page(reader, "actor", {.actor = "actor-7"});
    page(reader, "a rare actor", {.actor = "rare"});
    page(reader, "run", {.run = newest.items.front().run.empty() ? newest.items[1].run : newest.items.front().run});
    page(reader, "since and until", {.since = now - std::chrono::seconds(3), .until = now - std::chrono::seconds(2)});
    page(reader, "all five that match something",
         {.decision = "refused",
          .operation = "command.execute",
          .actor = "actor-7",
          .since = Timestamp{},
          .until = now});
    page(reader, "two that never meet", {.decision = "executed", .operation = "skill.publish"});
    page(reader, "an actor who never did that", {.operation = "token.create", .actor = "actor-7"});
    start = Steady::now();
    Verifier verifier(*database, key.publicKey());
    const auto verdict = must(verifier.chain(kScope));
    const double took = secondsSince(start);
    std::printf("verification: %llu rows in %.1f s, %.0f rows/s, %s\n",
                static_cast<unsigned long long>(verdict.checked), took, static_cast<double>(verdict.checked) / took,
                verdict.valid ? "valid" : "NOT VALID");
}

} // namespace

int main(int argc, char** argv)
{
    const std::string what = argc > 1 ? argv[1] : "all";
    const std::uint64_t rows = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1'000'000;
    const fs::path parent = argc > 3 ? fs::path(argv[3]) : fs::current_path() / "bench-ledger";
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (what == "append" || what == "all")
        benchAppend(parent);
    if ((what == "pages" || what == "all") && rows > 0)
        benchPages(parent, rows);
    fs::remove_all(parent);
    return 0;
}
