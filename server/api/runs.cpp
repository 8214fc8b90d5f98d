// SPDX-License-Identifier: Apache-2.0
#include "server/api/event_stream.h"
#include "server/api/handlers.h"
#include "server/api/replies.h"
#include "server/contract/codec.h"

#include <array>

namespace assay::api {

namespace {

constexpr std::array<std::string_view, 10> kStates{"queued",    "pinned",     "provisioning", "materializing",
                                                   "running",   "collecting", "succeeded",    "failed",
                                                   "cancelled", "refused"};
constexpr std::size_t kMaxNameBytes = 64;

Result<contract::RunFilter> readFilter(const Request& request)
{
    auto state = queryChoice(request, "state", kStates);
    if (!state)
        return forward(state);
    auto agent = queryText(request, "agent", kMaxNameBytes);
    if (!agent)
        return forward(agent);
    auto skill = queryText(request, "skill", kMaxNameBytes);
    if (!skill)
        return forward(skill);
    auto since = queryTime(request, "since");
    if (!since)
        return forward(since);
    return contract::RunFilter{std::move(*state), std::move(*agent), std::move(*skill), *since};
}

json::object summary(const contract::Run& run) { return contract::toJson(run, contract::RunDetail::Summary); }
json::object full(const contract::Run& run) { return contract::toJson(run, contract::RunDetail::Full); }

} // namespace

Result<Reply> listRuns(const Services& services, Request& request)
{
    const auto filter = readFilter(request);
    if (!filter)
        return std::unexpected(filter.error());
    const auto page = pageOf(request);
    if (!page)
        return std::unexpected(page.error());
    const auto runs = services.runs.list(request.by, *filter, *page);
    if (!runs)
        return std::unexpected(runs.error());
    return jsonReply(200, contract::pageJson(*runs, summary));
}

Result<Reply> startRun(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    auto start = contract::readStartRun(*body);
    if (!start)
        return forward(start);
    const auto run = services.runs.start(request.by, std::move(*start));
    if (!run)
        return std::unexpected(run.error());
    if (services.log)
        services.log->started(run->id);
    Reply reply = resourceReply(request, 201, full(*run));
    reply.headers.emplace_back("Location", "/v1/runs/" + run->id);
    return reply;
}

Result<Reply> getRun(const Services& services, Request& request)
{
    const auto run = services.runs.find(request.by, request.parameter(0));
    if (!run)
        return std::unexpected(run.error());
    return resourceReply(request, 200, full(*run));
}

Result<Reply> getManifest(const Services& services, Request& request)
{
    auto manifest = services.runs.manifest(request.by, request.parameter(0));
    if (!manifest)
        return forward(manifest);
    const auto storage = std::make_shared<const std::string>(std::move(manifest->canonicalJson));
    Reply reply = downloadReply(request, {.bytes = {*storage, storage},
                                          .tag = manifest->digest,
                                          .mediaType = "application/octet-stream",
                                          .fileName = request.parameter(0) + "-manifest.json",
                                          .keep = Keep::Forever});
    if (reply.status == 200)
        reply.headers.front().second = "application/json";
    return reply;
}

Result<Reply> getRunEvents(const Services& services, Request& request)
{
    const auto last = lastEventId(request);
    if (!last)
        return std::unexpected(last.error());
    auto cursor = services.runs.events(request.by, request.parameter(0), *last);
    if (!cursor)
        return forward(cursor);
    Reply reply{200, {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}}, {}};
    reply.body = std::make_unique<RunEventSource>(std::move(*cursor));
    return reply;
}

Result<Reply> listRunSkillFiles(const Services& services, Request& request)
{
    const auto files = services.runs.skillFiles(request.by, request.parameter(0), request.parameter(1));
    if (!files)
        return std::unexpected(files.error());
    return resourceReply(request, 200, contract::pageJson(contract::Page<contract::RevisionFile>{*files, {}}));
}

Result<Reply> getRunSkillFile(const Services& services, Request& request)
{
    auto content =
        services.runs.skillFile(request.by, request.parameter(0), request.parameter(1), request.parameter(2));
    if (!content)
        return forward(content);
    const std::string& path = content->file.path;
    return downloadReply(request, {.bytes = {content->bytes, content->storage},
                                   .tag = content->file.sha256,
                                   .mediaType = content->file.mediaType,
                                   .fileName = path.substr(path.rfind('/') + 1),
                                   .keep = Keep::Forever});
}

Result<Reply> cancelRun(const Services& services, Request& request)
{
    if (auto empty = emptyBody(request); !empty)
        return forward(empty);
    const auto run = services.runs.cancel(request.by, request.parameter(0));
    if (!run)
        return std::unexpected(run.error());
    return resourceReply(request, 200, full(*run));
}

Result<Reply> finishRun(const Services& services, Request& request)
{
    if (auto empty = emptyBody(request); !empty)
        return forward(empty);
    const auto run = services.runs.finish(request.by, request.parameter(0));
    if (!run)
        return std::unexpected(run.error());
    return resourceReply(request, 200, full(*run));
}

} // namespace assay::api
