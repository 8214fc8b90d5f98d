// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"
#include "server/api/replies.h"
#include "server/contract/codec.h"

#include <array>

namespace assay::api {

namespace {

constexpr std::array<std::string_view, 2> kLedgers{"scope", "server"};
constexpr std::size_t kMaxTextBytes = 256;

/// Whose rows are asked for: the scope's are a reviewer's to read, the server's own an operator's. Without the
/// parameter, those that the caller may read.
Result<bool> isServers(const Request& request)
{
    auto asked = queryChoice(request, "ledger", kLedgers);
    if (!asked)
        return forward(asked);
    const bool isReviewer = request.by.roles.contains(auth::Role::Reviewer);
    const bool isServer = asked->empty() ? !isReviewer : *asked == "server";
    if (!request.by.roles.contains(isServer ? auth::Role::Operator : auth::Role::Reviewer))
        return fail(ErrorCode::PermissionDenied, "this needs another role than the caller has");
    return isServer;
}

Result<std::string> chainOf(const Request& request)
{
    const auto isServer = isServers(request);
    if (!isServer)
        return std::unexpected(isServer.error());
    return *isServer ? std::string() : request.by.scopeFingerprint;
}

Result<contract::AuditFilter> readFilter(const Request& request)
{
    contract::AuditFilter out;
    const std::pair<std::string_view, std::string*> texts[] = {
        {"decision", &out.decision}, {"operation", &out.operation}, {"actor", &out.actor}, {"run", &out.run}};
    for (const auto& [name, target] : texts) {
        auto text = queryText(request, name, kMaxTextBytes);
        if (!text)
            return forward(text);
        *target = std::move(*text);
    }
    const auto since = queryTime(request, "since");
    if (!since)
        return std::unexpected(since.error());
    const auto until = queryTime(request, "until");
    if (!until)
        return std::unexpected(until.error());
    out.since = *since;
    out.until = *until;
    return out;
}

std::unexpected<Error> noLedger() { return fail(ErrorCode::Unavailable, "this server has no audit ledger"); }

} // namespace

Result<Reply> listAudit(const Services& services, Request& request)
{
    const auto chain = chainOf(request);
    if (!chain)
        return std::unexpected(chain.error());
    const auto filter = readFilter(request);
    if (!filter)
        return std::unexpected(filter.error());
    const auto page = pageOf(request);
    if (!page)
        return std::unexpected(page.error());
    if (!services.audit)
        return noLedger();
    const auto rows = services.audit->list(*chain, *filter, *page);
    if (!rows)
        return std::unexpected(rows.error());
    return jsonReply(200, contract::pageJson(*rows));
}

Result<Reply> exportAudit(const Services& services, Request& request)
{
    const auto chain = chainOf(request);
    if (!chain)
        return std::unexpected(chain.error());
    const auto filter = readFilter(request);
    if (!filter)
        return std::unexpected(filter.error());
    const auto page = pageOf(request);
    if (!page)
        return std::unexpected(page.error());
    if (!services.audit)
        return noLedger();
    auto part = services.audit->exportPage(*chain, *filter, page->token);
    if (!part)
        return forward(part);
    Reply reply{200, {{"Content-Type", "application/x-ndjson"}, {"Cache-Control", "no-store"}}, std::move(part->lines)};
    if (part->nextPageToken)
        reply.headers.emplace_back("Assay-Next-Page-Token", *part->nextPageToken);
    return reply;
}

Result<Reply> verifyAudit(const Services& services, Request& request)
{
    const auto isServer = isServers(request);
    if (!isServer)
        return std::unexpected(isServer.error());
    if (!services.verifier)
        return noLedger();
    const auto verdict = *isServer ? services.verifier->all() : services.verifier->chain(request.by.scopeFingerprint);
    if (!verdict)
        return std::unexpected(verdict.error());
    return jsonReply(200, contract::toJson(*verdict));
}

} // namespace assay::api
