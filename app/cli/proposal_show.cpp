// SPDX-License-Identifier: Apache-2.0
#include "app/cli/proposal_change.h"

namespace assay::cli {

namespace {

constexpr std::size_t kMaxComments = 2200; ///< a proposal's, with the caller's drafts

struct Options
{
    std::string id;
};

/// Each line on one of its own; what a terminal would obey stays an escape.
std::string indented(std::string_view text)
{
    std::string out;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        out += "\n    " + plain(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return out;
}

std::string commentText(const json::value& comment)
{
    std::string place = textOf(comment, "path");
    if (const std::uint64_t line = numberOf(comment, "line"))
        place += ":" + std::to_string(line);
    if (textOf(comment, "side") == "old")
        place += " (old side)";
    std::string out = "  " + plain(textOf(comment, "id")) + "  " + plain(textOf(comment, "author"));
    if (!place.empty())
        out += "  " + plain(place);
    if (!textOf(comment, "in_reply_to").empty())
        out += "  re " + plain(textOf(comment, "in_reply_to"));
    if (isTrue(comment, "draft"))
        out += "  [draft]";
    if (!textOf(comment, "resolved_at").empty())
        out += "  [resolved by " + plain(textOf(comment, "resolved_by")) + "]";
    return out + indented(textOf(comment, "text")) + '\n';
}

Result<int> show(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto proposal = (*api)->get(pathOf({"v1", "proposals", options.id}));
    if (!proposal)
        return forward(proposal);
    auto comments = (*api)->list(pathOf({"v1", "proposals", options.id, "comments"}), {}, kMaxComments);
    if (!comments)
        return forward(comments);
    json::value whole = proposal->body;
    if (whole.is_object()) {
        whole.get_object()["comments"] = (*comments)["items"];
        whole.get_object()["etag"] = proposal->etag;
    }
    context.print(whole, [&](const json::value& value) {
        std::string out = proposalText(value) + labelled("etag", proposal->etag);
        for (const json::value& comment : itemsOf(value, "comments"))
            out += commentText(comment);
        return out;
    });
    return kDone;
}

} // namespace

void addProposalShow(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("show", "Tell a proposal: verdicts, checks, what blocks it, and every comment");
    command.required("ID", options->id);
    onCommand(command, context, std::move(options), show);
}

} // namespace assay::cli
