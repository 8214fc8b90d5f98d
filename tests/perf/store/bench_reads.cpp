// SPDX-License-Identifier: Apache-2.0
#include "server/core/ids.h"
#include "server/store/package_store_factory.h"
#include "server/store/skill_table.h"
#include "tests/perf/store/bench_parts.h"

#include <algorithm>
#include <functional>

namespace assay::bench {

namespace {

constexpr const char* kScope = "sc_00000000000000000000000000000001";

std::string nameOf(unsigned i)
{
    const std::string digits = std::to_string(i);
    return "skill-" + std::string(6 - digits.size(), '0') + digits;
}

Result<void> addSkill(store::Connection& connection, unsigned i, Timestamp now)
{
    const std::string name = nameOf(i);
    const std::string description(200, 'd');
    store::SkillRow skill{.name = name,
                          .version = 1,
                          .state = "current",
                          .currentRevision = newId("rev_", now),
                          .shown = {"rev_", 1, Digest::ofBytes(name), 6, 20'000, "[]", "[]"},
                          .lastNumber = 1,
                          .createdAt = now,
                          .updatedAt = now,
                          .visibility = "private",
                          .labels = "{}",
                          .description = description,
                          .searchText = name + description};
    store::RevisionRow revision{.number = 1,
                                .id = skill.currentRevision,
                                .digest = Digest::ofBytes(name),
                                .fileCount = 6,
                                .sizeBytes = 20'000,
                                .createdAt = now,
                                .promotedAt = now,
                                .publisher = "p",
                                .lints = "[]",
                                .ignored = "[]",
                                .description = description,
                                .files = std::string(700, ' ')};
    auto done = store::SkillTable(connection).insert(kScope, skill);
    return done ? store::RevisionTable(connection).insert(kScope, name, revision) : done;
}

void fill(store::Database& database, unsigned skills, Timestamp now)
{
    constexpr unsigned kRowsPerCommit = 5000;
    for (unsigned start = 0; start < skills; start += kRowsPerCommit)
        must(database.write([&](store::Connection& connection) -> Result<void> {
            for (unsigned i = start; i < std::min(skills, start + kRowsPerCommit); ++i) {
                // Not in the order of names, as skills arrive.
                if (auto done = addSkill(connection, static_cast<unsigned>(i * 7919ULL % skills), now); !done)
                    return done;
            }
            return {};
        }));
}

double medianMicroseconds(unsigned count, const std::function<void(unsigned)>& call)
{
    std::vector<double> times;
    for (unsigned i = 0; i < count; ++i) {
        const auto start = std::chrono::steady_clock::now();
        call(i);
        times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    std::ranges::nth_element(times, times.begin() + times.size() / 2);
    return times[times.size() / 2];
}

} // namespace

ReadTimes readTimes(const std::filesystem::path& file, unsigned skills)
{
    const SystemClock clock;
    const auto database = must(store::Database::open({.file = file}));
    const auto packages = must(store::makePackageStore({}, *database));
    registry::SkillService service(*database, *packages, clock, {});
    fill(*database, skills, clock.now());
    const auth::Identity by{kScope, "p", "", auth::Role::Viewer};
    std::string token;
    const auto page = [&](unsigned) {
        auto got = must(service.list(by, {}, {.size = 50, .token = token}));
        token = got.nextPageToken.value_or("");
    };
    const auto lookup = [&](unsigned i) {
        must(service.find(by, nameOf(static_cast<unsigned>(i * 104729ULL % skills))));
    };
    medianMicroseconds(50, page);
    return {medianMicroseconds(400, page), medianMicroseconds(5000, lookup)};
}

} // namespace assay::bench
