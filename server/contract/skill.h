// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/page.h"
#include "server/core/clock.h"
#include "server/core/error.h"

#include <map>

namespace assay::contract {

/// Body of `POST /v1/skills` and `PUT /v1/skills/{name}` (api.md, "Skills"). Assets are decoded already.
struct PublishSkill
{
    std::optional<std::string> name; ///< required by POST, absent in PUT
    std::map<std::string, std::string> files;
    std::optional<std::string> content; ///< shorthand for files["SKILL.md"]
    std::map<std::string, std::string> assets;
    std::vector<std::string> executable;
    std::optional<std::string> note;
    std::optional<bool> enabled;
    std::optional<std::string> visibility; ///< "public", "restricted" or "private"
};

/// Body of `PATCH /v1/skills/{name}`.
struct PatchSkill
{
    std::optional<bool> enabled;
    std::optional<std::string> visibility;
    std::optional<std::map<std::string, std::string>> labels;
};

/// A skill with the revision that the answer is about: the current one, unless a publish answers with another.
struct Skill
{
    std::string name;
    std::string description;
    bool enabled = true;
    std::string visibility = "private";
    std::map<std::string, std::string> labels;
    std::string currentRevision; ///< empty when none is current
    std::string revision;
    std::uint64_t number = 0;
    std::string digest;
    std::uint64_t fileCount = 0;
    std::uint64_t sizeBytes = 0;
    std::string validationStatus; ///< "valid" or "valid_with_lints"
    std::vector<Problem> lints;
    std::vector<std::string> ignored;
    bool requiresExecution = false; ///< it has something to execute, or says so (E14)
    Timestamp createdAt;
    Timestamp updatedAt;
    std::string etag; ///< changes with every change of the row; header only
};

struct Revision
{
    std::string id;
    std::uint64_t number = 0;
    std::string digest;
    std::uint64_t fileCount = 0;
    std::uint64_t sizeBytes = 0;
    std::string validationStatus;
    std::vector<Problem> lints;
    std::string description;
    std::string note;
    std::string publisher; ///< the principal
    std::string state;     ///< "current", "superseded", "proposed" or "withdrawn"
    std::string withdrawnReason;
    bool requiresExecution = false;
    Timestamp createdAt;
};

struct RevisionFile
{
    std::string path;
    std::string sha256; ///< "sha256:" + hex
    std::uint64_t sizeBytes = 0;
    bool executable = false;
    std::string kind; ///< "text" or "asset"
    std::string mediaType;
};

/// Answer of `POST /v1/skills/validate`.
struct Verdict
{
    bool valid = false;
    std::vector<Problem> errors;
    std::vector<Problem> lints;
    std::string digest; ///< empty when invalid
    std::uint64_t fileCount = 0;
    std::uint64_t sizeBytes = 0;
    std::vector<std::string> ignored;
};

struct SkillFilter
{
    std::string text; ///< `q`: a part of name or description, case-insensitive
    std::optional<bool> enabled;
    std::string state; ///< "current", "proposed" or "withdrawn"; empty for all
};

} // namespace assay::contract
