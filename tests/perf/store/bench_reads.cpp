// SPDX-License-Identifier: Apache-2.0
#include "server/core/ids.h"
#include "server/store/package_store_factory.h"
#include "server/store/skill_table.h"
#include "tests/perf/store/bench_parts.h"

#include <algorithm>
#include <array>
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

double microseconds(const std::function<void()>& call)
{
    const auto start = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double>& times)
{
    std::ranges::nth_element(times, times.begin() + times.size() / 2);
    return times[times.size() / 2];
}

/// A catalog of so many skills, and what is asked of it.
class Catalog
{
public:
    Catalog(const std::filesystem::path& file, unsigned skills)
        : m_skills(skills),
          m_database(must(store::Database::open({.file = file}))),
          m_packages(must(store::makePackageStore({}, *m_database))),
          m_service(*m_database, *m_packages, m_clock, {})
    {
        fill(*m_database, skills, m_clock.now());
    }
    void page()
    {
        auto got = must(m_service.list(m_by, {}, {.size = 50, .token = m_token}));
        m_token = got.nextPageToken.value_or("");
    }
    void lookup(unsigned i) { must(m_service.find(m_by, nameOf(static_cast<unsigned>(i * 104729ULL % m_skills)))); }

private:
    const SystemClock m_clock;
    const unsigned m_skills;
    const std::unique_ptr<store::Database> m_database;
    const std::unique_ptr<store::SkillPackageStore> m_packages;
    registry::SkillService m_service;
    const auth::Identity m_by{kScope, "p", "", auth::Role::Viewer};
    std::string m_token;
};

} // namespace

std::array<ReadTimes, 2> readTimes(const std::filesystem::path& folder, const std::array<unsigned, 2>& skills)
{
    constexpr unsigned kPages = 400;
    constexpr unsigned kLookups = 5000;
    std::array<std::unique_ptr<Catalog>, 2> catalogs;
    for (std::size_t i = 0; i < catalogs.size(); ++i)
        catalogs[i] = std::make_unique<Catalog>(folder / (std::to_string(skills[i]) + ".db"), skills[i]);
    std::array<std::vector<double>, 2> pages;
    std::array<std::vector<double>, 2> lookups;
    for (unsigned round = 0; round < kPages + 50; ++round)
        for (std::size_t i = 0; i < catalogs.size(); ++i) {
            const double took = microseconds([&] { catalogs[i]->page(); });
            if (round >= 50) // these warm caches
                pages[i].push_back(took);
        }
    for (unsigned round = 0; round < kLookups; ++round)
        for (std::size_t i = 0; i < catalogs.size(); ++i)
            lookups[i].push_back(microseconds([&] { catalogs[i]->lookup(round); }));
    return {ReadTimes{median(pages[0]), median(lookups[0])}, ReadTimes{median(pages[1]), median(lookups[1])}};
}

} // namespace assay::bench
