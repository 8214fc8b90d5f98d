// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/skill_service.h"
#include "server/retention/collection_service.h"
#include "server/store/artifact_table.h"
#include "server/store/command_table.h"
#include "server/store/package_store_factory.h"
#include "server/store/run_event_table.h"
#include "server/store/run_table.h"
#include "tests/support/skill_sources.h"

namespace assay::test {

/// A real database and both stores of one backend, a registry over them, and time that is moved by hand.
class RetentionWorld
{
public:
    explicit RetentionWorld(const QString& backend)
        : database(m_store.open()),
          packages(store::makePackageStore(settings(backend), database).value()),
          artifacts(store::makeArtifactStore(settings(backend), database).value()),
          skills(database, *packages, clock, {})
    {
        // The files of a store have the machine's time.
        clock.advance(SystemClock().now() - clock.now() + std::chrono::hours(2));
    }

    retention::CollectionService collector(retention::CollectionSettings settings = {},
                                           retention::TreeSweeper* trees = nullptr)
    {
        return {database, {{packages.get(), artifacts.get()}}, trees, clock, settings};
    }
    contract::CollectionReport collect(store::Removal removal = store::Removal::Real)
    {
        return collector().collect(removal).value();
    }
    void laterBy(int days) { clock.advance(std::chrono::days(days)); }

    registry::Published publish(const std::string& name, const std::string& body, const char* scope = kScopeA)
    {
        return skills.publish(builderOf(scope), name, makeSkill(name, body), {}).value();
    }
    bool isServed(const std::string& name, const std::string& revision, const char* scope = kScopeA)
    {
        return skills.file(builderOf(scope), name, revision, "SKILL.md").has_value();
    }
    bool hasBundle(const std::string& digest, const char* scope = kScopeA)
    {
        return packages->fetch(scope, Digest::parse(digest).value()).has_value();
    }

    /// A run that pins `skill` as published, without an end.
    void addRun(const std::string& id, const contract::Skill& skill, const char* scope = kScopeA)
    {
        store::RunRow row{.id = id, .state = "running", .manifest = "{}", .createdAt = clock.now()};
        row.skills.push_back({skill.name, skill.revision, skill.number, Digest::parse(skill.digest).value()});
        write([&](store::Connection& connection) { return store::RunTable(connection).insert(scope, row); });
    }
    void endRun(const std::string& id, const char* scope = kScopeA)
    {
        write([&](store::Connection& connection) {
            return store::RunTable(connection).update(scope, id, {.state = "succeeded", .endedAt = clock.now()});
        });
    }
    bool hasRun(const std::string& id, const char* scope = kScopeA)
    {
        return database.read([&](store::Connection& connection) { return store::RunTable(connection).find(scope, id); })
            .value()
            .has_value();
    }
    void addArtifact(const std::string& run, const std::string& id, const std::string& bytes)
    {
        const std::string_view pieces[] = {bytes};
        const Digest digest = Digest::ofBytes(bytes);
        QVERIFY(artifacts->put(kScopeA, digest, pieces));
        write([&](store::Connection& connection) {
            return store::ArtifactTable(connection)
                .insert(kScopeA, {.id = id, .run = run, .path = id, .sha256 = digest, .createdAt = clock.now()});
        });
    }
    bool hasBytes(const std::string& bytes) { return artifacts->fetch(kScopeA, Digest::ofBytes(bytes)).has_value(); }
    void write(const std::function<Result<void>(store::Connection&)>& job)
    {
        const auto done = database.write(job);
        QVERIFY2(done.has_value(), explain(done).constData());
    }
    std::filesystem::path root() const { return m_store.path("root"); }

private:
    StoreFixture m_store;
    store::PackageStoreSettings settings(const QString& backend) const { return {backend.toStdString(), root()}; }

public:
    FakeClock clock;
    store::Database& database;
    std::unique_ptr<store::SkillPackageStore> packages;
    std::unique_ptr<store::SkillPackageStore> artifacts;
    registry::SkillService skills;
};

inline const contract::CollectedKind& kindOf(const contract::CollectionReport& report, std::string_view kind)
{
    return *std::ranges::find(report.kinds, kind, &contract::CollectedKind::kind);
}

inline std::uint64_t countOf(const contract::CollectionReport& report, std::string_view kind)
{
    return kindOf(report, kind).count;
}

} // namespace assay::test
