// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/record.h"
#include "tests/support/store_fixture.h"

namespace assay::test {

/// Somebody with a token in that scope.
inline auth::Identity someone(const char* scope, std::string principal = "ann")
{
    return {scope, std::move(principal), "tok_01JAAAAAAAAAAAAAAAAAAAAAAA", auth::Roles(0xff), auth::Surface::Api};
}

inline constexpr const char* kRunId = "run_01JAAAAAAAAAAAAAAAAAAAAAAA";
inline constexpr const char* kCommandId = "cmd_01JAAAAAAAAAAAAAAAAAAAAAAA";

inline audit::Record published(const char* scope, std::string skill = "demo")
{
    return audit::recordBy(someone(scope), audit::Operation::SkillPublish, audit::Decision::Allowed,
                           audit::ResourceType::Skill, std::move(skill));
}

/// A command of `kRunId` in a box.
inline audit::Record command(const char* scope, audit::Decision decision)
{
    auto out = audit::recordBy(someone(scope), audit::Operation::CommandExecute, decision, audit::ResourceType::Command,
                               kCommandId);
    out.run = kRunId;
    out.metadata.cwd = "/workspace";
    return out;
}

} // namespace assay::test
