// SPDX-License-Identifier: Apache-2.0
// publish_until_killed FOLDER BACKEND ROUND: eight clients publish skills until the process is killed, and each writes
// "name revision digest" in one line after its publish was acknowledged.
#include "server/registry/skill_service.h"
#include "server/store/package_store_factory.h"

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
    if (argc != 4)
        return 1;
    const std::filesystem::path folder = argv[1];
    const SystemClock clock;
    const auto database = store::Database::open({.file = folder / "assay.db"});
    if (!database)
        return 4;
    const auto packages = store::makePackageStore({argv[2], folder / "packages"}, **database);
    if (!packages)
        return 5;
    registry::SkillService skills(**database, **packages, clock, {});
    std::vector<std::thread> threads;
    for (unsigned client = 0; client < 8; ++client)
        threads.emplace_back([&, client] { publishForEver(skills, client, argv[3]); });
    for (std::thread& thread : threads)
        thread.join();
    return 0;
}
