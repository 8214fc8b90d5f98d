// SPDX-License-Identifier: Apache-2.0
// review_until_killed FOLDER ROUND: four teams publish, approve and promote, or withdraw, until the process is killed;
// each writes "WHAT skill revision" in one line after that was acknowledged.
#include "server/registry/review/desk.h"
#include "server/registry/skill_service.h"
#include "server/store/package_store_factory.h"

#include <map>
#include <thread>
#include <unistd.h>

using namespace assay;

namespace {

auth::Identity person(const char* name)
{
    return {"sc_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", name, "", auth::Roles(auth::Role::Builder) | auth::Role::Reviewer};
}

registry::PackageSource makePackage(const std::string& name, const std::string& mark)
{
    const auto storage = std::make_shared<std::string>("---\nname: " + name + "\ndescription: Survives\n---\n" + mark);
    return {{{"SKILL.md", *storage, false}}, storage};
}

void say(const char* what, const std::string& skill, const std::string& revision)
{
    const std::string line = std::string(what) + " " + skill + " " + revision + "\n";
    if (::write(1, line.data(), line.size()) < 0)
        std::_Exit(3);
}

void reviewForEver(registry::SkillService& skills, review::Desk& desk, const std::string& name,
                   const std::string& round)
{
    for (unsigned i = 0;; ++i) {
        const auto published =
            skills.publish(person("pat"), name, makePackage(name, round + " " + std::to_string(i)), {});
        if (!published)
            std::_Exit(2);
        const std::string& revision = published->skill.revision;
        say("published", name, revision);
        if (i % 5 == 3)
            continue; // the next one supersedes it
        if (i % 5 == 4) {
            if (!desk.proposals().withdraw(person("pat"), published->proposal, "no", {}))
                std::_Exit(4);
            say("withdrawn", name, revision);
            continue;
        }
        if (!desk.proposals().review(person("ann"), published->proposal, {.verdict = "approve"}, {}) ||
            !desk.proposals().promote(person("ann"), published->proposal, {}, {}))
            std::_Exit(5);
        say("promoted", name, revision);
    }
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 3)
        return 1;
    const SystemClock clock;
    const auto database = store::Database::open({.file = std::filesystem::path(argv[1]) / "assay.db"});
    if (!database)
        return 6;
    const auto packages = store::makePackageStore({}, **database);
    if (!packages)
        return 7;
    review::Desk desk(**database, **packages, clock);
    registry::SkillService skills(**database, **packages, clock, {}, nullptr, desk.checks());
    const contract::PatchScope reviewed{.promotionMode = "reviewed",
                                        .requiredChecks = std::vector<std::string>{"package_valid"}};
    if (!desk.scopes().patch(person("operator"), person("").scopeFingerprint, reviewed, {}))
        return 8;
    std::vector<std::thread> teams;
    for (const char* name : {"one", "two", "three", "four"})
        teams.emplace_back([&, name] { reviewForEver(skills, desk, name, argv[2]); });
    for (std::thread& team : teams)
        team.join();
    return 0;
}
