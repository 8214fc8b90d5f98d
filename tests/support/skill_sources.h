// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/identity.h"
#include "server/registry/package.h"
#include "tests/support/store_fixture.h"

#include <map>

namespace assay::test {

/// A package in memory, from paths and contents; `executable` names the files with the executable bit.
inline registry::PackageSource makeSource(const std::map<std::string, std::string>& files,
                                          const std::vector<std::string>& executable = {})
{
    const auto storage = std::make_shared<const std::map<std::string, std::string>>(files);
    std::vector<registry::SourceFile> out;
    for (const auto& [path, content] : *storage)
        out.push_back({path, content, std::ranges::find(executable, path) != executable.end()});
    return {std::move(out), storage};
}

/// The least skill: one SKILL.md whose body makes the content differ.
inline registry::PackageSource makeSkill(const std::string& name, const std::string& body = "Do it.")
{
    return makeSource({{"SKILL.md", "---\nname: " + name + "\ndescription: About " + name + "\n---\n" + body + "\n"}});
}

inline auth::Identity builderOf(const char* scope) { return {scope, "tester", "tok_test", auth::Role::Builder}; }

} // namespace assay::test
