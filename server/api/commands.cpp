// SPDX-License-Identifier: Apache-2.0
#include "server/api/etag.h"
#include "server/api/handlers.h"
#include "server/api/replies.h"
#include "server/contract/codec.h"

#include <algorithm>

namespace assay::api {

namespace {

/// The bytes of one stream as they were kept, with how many there were.
Reply streamReply(const Request& request, std::string bytes, std::uint64_t total, std::string_view name)
{
    const auto storage = std::make_shared<const std::string>(std::move(bytes));
    Reply reply = downloadReply(request, {.bytes = {*storage, storage},
                                          .tag = tagOfBody(*storage),
                                          .mediaType = "application/octet-stream",
                                          .fileName = request.parameter(1) + "." + std::string(name),
                                          .keep = Keep::AskAgain});
    reply.headers.emplace_back("Assay-Total-Bytes", std::to_string(total));
    reply.headers.emplace_back("Assay-Dropped-Bytes", std::to_string(total - std::min(total, storage->size())));
    return reply;
}

} // namespace

Result<Reply> startCommand(const Services& services, Request& request)
{
    const auto body = jsonBody(request);
    if (!body)
        return std::unexpected(body.error());
    auto start = contract::readStartCommand(*body);
    if (!start)
        return forward(start);
    const std::string& run = request.parameter(0);
    const auto command = services.runs.startCommand(request.by, run, std::move(*start));
    if (!command)
        return std::unexpected(command.error());
    Reply reply = resourceReply(request, 201, contract::toJson(*command));
    reply.headers.emplace_back("Location", "/v1/runs/" + run + "/commands/" + command->id);
    return reply;
}

Result<Reply> getCommand(const Services& services, Request& request)
{
    const auto command = services.runs.command(request.by, request.parameter(0), request.parameter(1));
    if (!command)
        return std::unexpected(command.error());
    return resourceReply(request, 200, contract::toJson(*command));
}

Result<Reply> getCommandStdout(const Services& services, Request& request)
{
    auto command = services.runs.command(request.by, request.parameter(0), request.parameter(1));
    if (!command)
        return forward(command);
    return streamReply(request, std::move(command->stdoutBytes), command->stdoutTotal, "stdout");
}

Result<Reply> getCommandStderr(const Services& services, Request& request)
{
    auto command = services.runs.command(request.by, request.parameter(0), request.parameter(1));
    if (!command)
        return forward(command);
    return streamReply(request, std::move(command->stderrBytes), command->stderrTotal, "stderr");
}

} // namespace assay::api
