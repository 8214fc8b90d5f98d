// SPDX-License-Identifier: Apache-2.0
#include "server/contract/codec.h"
#include "server/contract/json_parts.h"
#include "server/contract/object_reader.h"
#include "server/core/base64.h"

#include <array>

namespace assay::contract {

namespace {

constexpr std::array<std::string_view, 3> kVisibilities{"public", "restricted", "private"};

// Sizes and counts of files are the package rules' to judge, with their own codes; the server's cap on the body bounds
// them here.
constexpr ListRule kFiles{.maxItems = 100'000, .item = {.maxBytes = SIZE_MAX, .nul = TextRule::Nul::Allowed}};
constexpr TextRule kAnyPath{.maxBytes = 65'536, .nul = TextRule::Nul::Allowed};
constexpr TextRule kSkillText{.maxBytes = SIZE_MAX, .nul = TextRule::Nul::Allowed};
constexpr TextRule kNote{.maxBytes = 4096, .nul = TextRule::Nul::Allowed};
constexpr TextRule kAnyName{.maxBytes = 4096, .nul = TextRule::Nul::Allowed};
constexpr ListRule kLabels{.maxItems = 64, .item = {.maxBytes = 256}};
constexpr TextRule kLabelName{.minBytes = 1, .maxBytes = 63};

void decodeAssets(ObjectReader& in, std::map<std::string, std::string>& assets)
{
    for (auto& [path, text] : assets) {
        auto bytes = fromBase64(text);
        if (bytes)
            text = std::move(*bytes);
        else
            in.refuse("assets", "the asset \"" + path + "\" is not base64 with padding (RFC 4648, section 4)");
    }
}

void judgeContent(ObjectReader& in, const PublishSkill& skill)
{
    if (skill.content && skill.files.contains("SKILL.md"))
        in.refuse("content", "\"content\" is a shorthand for files[\"SKILL.md\"]: send one of them");
    for (std::size_t i = 0; i < skill.executable.size(); ++i) {
        const std::string& path = skill.executable[i];
        const bool isThere =
            skill.files.contains(path) || skill.assets.contains(path) || (skill.content && path == "SKILL.md");
        if (!isThere)
            in.refuse("executable", "item " + std::to_string(i) + " names no file of this package: \"" + path + "\"");
    }
}

void judgeName(ObjectReader& in, const PublishSkill& skill, NameFrom nameFrom, std::string_view pathName)
{
    if (nameFrom == NameFrom::Body)
        in.require("name");
    if (nameFrom == NameFrom::Path && skill.name && *skill.name != pathName)
        in.refuse("name", "the name in the body differs from the name in the path");
}

} // namespace

Result<PublishSkill> readPublishSkill(const json::value& body, NameFrom nameFrom, std::string_view pathName)
{
    PublishSkill out;
    ObjectReader in(body);
    in.text("name", out.name, kAnyName)
        .textMap("files", out.files, kFiles, kAnyPath)
        .text("content", out.content, kSkillText)
        .textMap("assets", out.assets, kFiles, kAnyPath)
        .texts("executable", out.executable, {.maxItems = 100'000, .item = kAnyPath})
        .text("note", out.note, kNote)
        .flag("enabled", out.enabled)
        .text("visibility", out.visibility, {.oneOf = kVisibilities});
    decodeAssets(in, out.assets);
    judgeContent(in, out);
    judgeName(in, out, nameFrom, pathName);
    return in.finish(std::move(out));
}

Result<PatchSkill> readPatchSkill(const json::value& body)
{
    PatchSkill out;
    ObjectReader in(body);
    in.flag("enabled", out.enabled).text("visibility", out.visibility, {.oneOf = kVisibilities});
    std::map<std::string, std::string> labels;
    in.textMap("labels", labels, kLabels, kLabelName);
    if (in.has("labels"))
        out.labels = std::move(labels);
    return in.finish(std::move(out));
}

json::object toJson(const Skill& skill)
{
    return {{"name", skill.name},
            {"description", skill.description},
            {"enabled", skill.enabled},
            {"visibility", skill.visibility},
            {"labels", textObject(skill.labels)},
            {"current_revision", textOrNull(skill.currentRevision)},
            {"revision", textOrNull(skill.revision)},
            {"number", skill.number},
            {"digest", textOrNull(skill.digest)},
            {"file_count", skill.fileCount},
            {"size_bytes", skill.sizeBytes},
            {"validation_status", textOrNull(skill.validationStatus)},
            {"lints", problemArray(skill.lints)},
            {"ignored", textArray(skill.ignored)},
            {"requires_execution", skill.requiresExecution},
            {"created_at", timeText(skill.createdAt)},
            {"updated_at", timeText(skill.updatedAt)}};
}

json::object toJson(const Revision& revision)
{
    return {{"id", revision.id},
            {"number", revision.number},
            {"digest", revision.digest},
            {"file_count", revision.fileCount},
            {"size_bytes", revision.sizeBytes},
            {"validation_status", revision.validationStatus},
            {"lints", problemArray(revision.lints)},
            {"description", revision.description},
            {"note", revision.note},
            {"publisher", revision.publisher},
            {"state", revision.state},
            {"withdrawn_reason", textOrNull(revision.withdrawnReason)},
            {"requires_execution", revision.requiresExecution},
            {"created_at", timeText(revision.createdAt)}};
}

json::object toJson(const RevisionFile& file)
{
    return {{"path", file.path},
            {"sha256", file.sha256},
            {"size_bytes", file.sizeBytes},
            {"executable", file.executable},
            {"kind", file.kind},
            {"media_type", file.mediaType}};
}

json::object toJson(const Verdict& verdict)
{
    return {{"valid", verdict.valid},
            {"errors", problemArray(verdict.errors)},
            {"lints", problemArray(verdict.lints)},
            {"digest", textOrNull(verdict.digest)},
            {"file_count", verdict.fileCount},
            {"size_bytes", verdict.sizeBytes},
            {"ignored", textArray(verdict.ignored)}};
}

} // namespace assay::contract
