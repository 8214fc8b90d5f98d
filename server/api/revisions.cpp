// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"
#include "server/api/replies.h"
#include "server/contract/codec.h"

#include <array>

namespace assay::api {

namespace {

constexpr std::array<std::string_view, 2> kFormats{"tar.gz", "zip"};

/// What stands below a revision's own id never changes; below "current" it does.
Keep keepOf(std::string_view revision) { return revision == "current" ? Keep::AskAgain : Keep::Forever; }

std::string lastSegment(const std::string& path) { return path.substr(path.rfind('/') + 1); }

} // namespace

Result<Reply> listRevisions(const Services& services, Request& request)
{
    const auto page = pageOf(request);
    if (!page)
        return std::unexpected(page.error());
    const auto revisions = services.skills.revisions(request.by, request.parameter(0), *page);
    if (!revisions)
        return std::unexpected(revisions.error());
    return jsonReply(200, contract::pageJson(*revisions));
}

Result<Reply> getRevision(const Services& services, Request& request)
{
    const auto revision = services.skills.revision(request.by, request.parameter(0), request.parameter(1));
    if (!revision)
        return std::unexpected(revision.error());
    return resourceReply(request, 200, contract::toJson(*revision));
}

Result<Reply> listRevisionFiles(const Services& services, Request& request)
{
    const auto files = services.skills.files(request.by, request.parameter(0), request.parameter(1));
    if (!files)
        return std::unexpected(files.error());
    return resourceReply(request, 200, contract::pageJson(contract::Page<contract::RevisionFile>{*files, {}}));
}

Result<Reply> getRevisionFile(const Services& services, Request& request)
{
    const std::string& revision = request.parameter(1);
    auto content = services.skills.file(request.by, request.parameter(0), revision, request.parameter(2));
    if (!content)
        return forward(content);
    Reply reply = downloadReply(request, {.bytes = {content->bytes, content->storage},
                                          .tag = content->file.sha256,
                                          .mediaType = content->file.mediaType,
                                          .fileName = lastSegment(content->file.path),
                                          .keep = keepOf(revision)});
    // Readers of "current" can hold on to one revision for the files that follow.
    reply.headers.emplace_back("Assay-Revision-Digest", content->revisionDigest);
    return reply;
}

Result<Reply> getArchive(const Services& services, Request& request)
{
    auto format = queryChoice(request, "format", kFormats);
    if (!format)
        return forward(format);
    const bool isZip = *format == "zip";
    const auto kind = isZip ? registry::ArchiveKind::Zip : registry::ArchiveKind::TarGz;
    const std::string& name = request.parameter(0);
    const std::string& revision = request.parameter(1);
    auto archive = services.skills.archive(request.by, name, revision, kind);
    if (!archive)
        return forward(archive);
    Reply reply = downloadReply(request, {.bytes = {*archive->bytes, archive->bytes},
                                          .tag = archive->digest,
                                          .mediaType = "application/octet-stream",
                                          .fileName = name + (isZip ? ".zip" : ".tar.gz"),
                                          .keep = keepOf(revision)});
    if (reply.status == 200)
        reply.headers.front().second = isZip ? "application/zip" : "application/gzip";
    return reply;
}

Result<Reply> promoteRevision(const Services& services, Request& request)
{
    const auto body = optionalBody(request);
    if (!body)
        return std::unexpected(body.error());
    const auto promote = contract::readPromote(*body);
    if (!promote)
        return std::unexpected(promote.error());
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    const auto skill =
        services.skills.promote(request.by, request.parameter(0), request.parameter(1), *match, promote->reason);
    if (!skill)
        return std::unexpected(skill.error());
    return resourceReply(request, 200, contract::toJson(*skill), skill->etag);
}

Result<Reply> withdrawRevision(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    const auto withdraw = contract::readWithdraw(*body);
    if (!withdraw)
        return std::unexpected(withdraw.error());
    const auto match = ifMatch(request);
    if (!match)
        return std::unexpected(match.error());
    const auto revision =
        services.skills.withdraw(request.by, request.parameter(0), request.parameter(1), *withdraw, *match);
    if (!revision)
        return std::unexpected(revision.error());
    // The withdrawal is durable: from here on no run can start with it, and those that did are known.
    json::object out = contract::toJson(*revision);
    out["stopped_runs"] =
        withdraw->stopRuns ? services.runs.stopPinned({request.by.scopeFingerprint, revision->id, {}}) : 0;
    return resourceReply(request, 200, out);
}

Result<Reply> listPromotions(const Services& services, Request& request)
{
    const auto at = queryTime(request, "at");
    if (!at)
        return std::unexpected(at.error());
    const std::string& skill = request.parameter(0);
    if (*at) {
        auto found = services.desk.history().at(request.by, skill, **at);
        if (!found)
            return forward(found);
        contract::Page<contract::Promotion> page;
        if (*found)
            page.items.push_back(std::move(**found));
        return jsonReply(200, contract::pageJson(page));
    }
    const auto page = pageOf(request);
    if (!page)
        return std::unexpected(page.error());
    const auto promotions = services.desk.history().list(request.by, skill, *page);
    if (!promotions)
        return std::unexpected(promotions.error());
    return jsonReply(200, contract::pageJson(*promotions));
}

} // namespace assay::api
