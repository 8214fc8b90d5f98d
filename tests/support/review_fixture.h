// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/review/desk.h"
#include "server/registry/skill_service.h"
#include "server/store/package_store_factory.h"
#include "tests/support/skill_sources.h"

namespace assay::test {

/// A registry with a review desk in a folder of its own, and the people who use it: ann and bob review, pat publishes
/// and reviews too. Scope A is of mode `reviewed` from the start.
class ReviewFixture
{
public:
    ReviewFixture()
        : database(m_store.open()),
          packages(store::makePackageStore({}, database).value()),
          desk(database, *packages, clock),
          skills(database, *packages, clock, {}, nullptr, desk.checks())
    {
        set({.promotionMode = "reviewed", .requiredChecks = std::vector<std::string>{"package_valid"}});
    }

    static auth::Identity person(const std::string& name, const char* scope = kScopeA)
    {
        return {scope, name, "tok_" + name, auth::Roles(auth::Role::Builder) | auth::Role::Reviewer};
    }
    static inline const auth::Identity ann = person("ann", kScopeA);
    static inline const auth::Identity bob = person("bob", kScopeA);
    static inline const auth::Identity pat = person("pat", kScopeA);

    void set(const contract::PatchScope& patch, const char* scope = kScopeA)
    {
        const auto done = desk.scopes().patch(person("operator", scope), scope, patch, {});
        if (!done)
            qFatal("set: %s", explain(done).constData());
    }

    /// A package whose SKILL.md says `body`, with a script and an asset.
    registry::Published publish(const std::string& body, const auth::Identity& by = pat,
                                const std::string& name = "demo", const std::string& script = "print(1)\nprint(2)\n")
    {
        clock.advance(std::chrono::milliseconds(1));
        auto done = skills.publish(
            by, name,
            makeSource({{"SKILL.md", "---\nname: " + name + "\ndescription: About it\n---\n" + body + "\n"},
                        {"logo.png", std::string("\x89PNG\0\xff", 6)},
                        {"scripts/run.py", script}}),
            {});
        if (!done)
            qFatal("publish: %s", explain(done).constData());
        return std::move(*done);
    }

    Result<review::Proposals::Reviewed> verdict(const auth::Identity& by, const std::string& proposal,
                                                const std::string& verdict)
    {
        clock.advance(std::chrono::milliseconds(1));
        return desk.proposals().review(by, proposal, {.verdict = verdict, .digest = {}, .comments = {}}, {});
    }

private:
    StoreFixture m_store;

public:
    FakeClock clock;
    store::Database& database;
    std::unique_ptr<store::SkillPackageStore> packages;
    review::Desk desk;
    registry::SkillService skills;
};

} // namespace assay::test
