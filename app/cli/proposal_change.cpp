// SPDX-License-Identifier: Apache-2.0
#include "app/cli/proposal_change.h"

namespace assay::cli {

namespace {

std::string people(const json::value& proposal, std::string_view member)
{
    std::string out;
    for (const json::value& verdict : itemsOf(proposal, member))
        out += (out.empty() ? "" : ", ") + textOf(verdict, "by");
    return out;
}

} // namespace

std::string proposalText(const json::value& proposal)
{
    std::string out = plain(textOf(proposal, "id")) + ": revision " + std::to_string(numberOf(proposal, "number")) +
                      " of " + plain(textOf(proposal, "skill")) + ", " + plain(textOf(proposal, "state")) + '\n';
    out += labelled("revision", textOf(proposal, "revision")) + labelled("digest", textOf(proposal, "digest")) +
           labelled("publisher", textOf(proposal, "publisher")) + labelled("note", textOf(proposal, "note")) +
           labelled("against", textOf(proposal, "base.revision")) +
           labelled("approved by", people(proposal, "approvals")) +
           labelled("changes by", people(proposal, "change_requests")) +
           labelled("reason", textOf(proposal, "reason")) + labelled("closed by", textOf(proposal, "closed_by"));
    if (const std::uint64_t comments = numberOf(proposal, "comment_count"))
        out += labelled("comments", std::to_string(comments) + ", " +
                                        std::to_string(numberOf(proposal, "unresolved_count")) + " unresolved");
    for (const json::value& check : itemsOf(proposal, "checks"))
        out += "  check " + plain(textOf(check, "id")) + (isTrue(check, "required") ? " (required): " : ": ") +
               plain(textOf(check, "state")) + ", " + plain(textOf(check, "summary")) + '\n';
    for (const json::value& blocker : itemsOf(proposal, "blockers"))
        out += "  blocked: " + plain(textOf(blocker, "message")) + '\n';
    return out;
}

Result<int> changeProposal(Context& context, const std::string& id, const std::string& verb, const json::value& body,
                           const std::string& ifMatch)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    const std::string text = json::serialize(body);
    HttpRequest request;
    request.method = "POST";
    request.target = pathOf({"v1", "proposals", id, verb});
    request.contentType = "application/json";
    request.body = text;
    if (!ifMatch.empty())
        request.headers.emplace_back("If-Match", ifMatch);
    auto answer = (*api)->send(std::move(request));
    if (!answer)
        return forward(answer);
    context.print(answer->body, [](const json::value& value) {
        const json::value* inner = memberOf(value, "proposal");
        return proposalText(inner ? *inner : value);
    });
    return kDone;
}

} // namespace assay::cli
