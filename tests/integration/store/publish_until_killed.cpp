// SPDX-License-Identifier: Apache-2.0
// publish_until_killed FOLDER BACKEND ROUND [COLLECT]: eight clients publish skills until the process is killed, and
// each writes "name revision digest" in one line after its publish was acknowledged. With COLLECT they also publish and
// delete other skills, always of the same content, while garbage is collected without pause: everything is past its
// time at once.
#include "server/registry/skill_service.h"
#include "server/retention/collection_service.h"
#include "server/store/package_store_factory.h"

#include <atomic>
#include <map>
#include <thread>
#include <unistd.h>

using namespace assay;

namespace {

registry::PackageSource makePackage(const std::string& name, unsigned seed)
{
    const auto storage = std::make_shared<std::map<std::string, std::string>>();
    (*storage)["SKILL.md"] = "---\nname: " + name + "\ndescription: Survives\n---\n" + std::to_string(seed) + "\n";
    (*storage)["assets/a.bin"] = std::string(20'000, static_cast<char>(seed));
    std::vector<registry::SourceFile> files;
    for (const auto& [path, bytes] : *storage)
        files.push_back({path, bytes, false});
    return {std::move(files), storage};
}

/// Each look at it is a year later.
class HastyClock final : public Clock
{
public:
    Timestamp now() const override { return Timestamp(std::chrono::milliseconds(m_now += 31'536'000'000)); }
    std::chrono::steady_clock::time_point steadyNow() const override { return std::chrono::steady_clock::now(); }

private:
    mutable std::atomic<std::int64_t> m_now{2'000'000'000'000};
};

void litterForEver(registry::SkillService& skills, unsigned client)
{
    const auth::Identity by{"sc_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "p", "", auth::Role::Builder};
    const std::string name = "litter-" + std::to_string(client);
    for (unsigned i = 0;; ++i) {
        const auto done = skills.publish(by, name, makePackage(name, i % 2), {});
        if (!done || !skills.file(by, name, done->skill.revision, "assets/a.bin") || !skills.remove(by, name, {}))
            std::_Exit(6);
    }
}

void collectForEver(store::Database& database, store::SkillPackageStore& packages, store::SkillPackageStore& artifacts)
{
    const HastyClock clock;
    retention::CollectionService collections(database, {{&packages, &artifacts}}, nullptr, clock, {});
    for (;;) {
        const auto report = collections.collect(store::Removal::Real);
        if (!report || !report->complete)
            std::_Exit(7);
    }
}

void publishForEver(registry::SkillService& skills, unsigned client, const std::string& round)
{
    const auth::Identity by{"sc_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "p", "", auth::Role::Builder};
    for (unsigned i = 0;; ++i) {
        const std::string name = "c" + std::to_string(client) + "-" + std::to_string(i % 7);
        const auto done = skills.publish(by, name, makePackage(name, i + 1000 * client), {.note = round});
        if (!done)
            std::_Exit(2);
        const std::string line = name + " " + done->skill.revision + " " + done->skill.digest + "\n";
        if (::write(1, line.data(), line.size()) < 0)
            std::_Exit(3);
    }
}

} // namespace

int main(int argc, char** argv)
{
    const bool collects = argc == 5 && std::string_view(argv[4]) == "COLLECT";
    if (argc != 4 && !collects)
        return 1;
    const std::filesystem::path folder = argv[1];
    const SystemClock clock;
    const auto database = store::Database::open({.file = folder / "assay.db"});
    if (!database)
        return 4;
    const auto packages = store::makePackageStore({argv[2], folder / "packages"}, **database);
    const auto artifacts = store::makeArtifactStore({argv[2], folder / "packages"}, **database);
    if (!packages || !artifacts)
        return 5;
    registry::SkillService skills(**database, **packages, clock, {});
    std::vector<std::thread> threads;
    for (unsigned client = 0; client < 8; ++client)
        threads.emplace_back([&, client] { publishForEver(skills, client, argv[3]); });
    for (unsigned client = 0; collects && client < 4; ++client)
        threads.emplace_back([&, client] { litterForEver(skills, client); });
    if (collects)
        threads.emplace_back([&] { collectForEver(**database, **packages, **artifacts); });
    for (std::thread& thread : threads)
        thread.join();
    return 0;
}
