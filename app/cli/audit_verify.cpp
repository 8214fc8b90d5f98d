// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "server/audit/export_check.h"
#include "server/core/base64.h"

#include <fstream>

namespace assay::cli {

namespace {

struct Options
{
    std::string file;
    std::string key;
    std::string ledger;
    bool partial = false;
};

std::string describe(const json::value& verdict)
{
    const bool isValid = memberOf(verdict, "valid") && *memberOf(verdict, "valid") == json::value(true);
    std::string out = std::to_string(numberOf(verdict, "checked")) + " rows and " +
                      std::to_string(numberOf(verdict, "anchors")) +
                      " anchors: " + (isValid ? "valid\n" : "NOT valid\n");
    if (const json::value* bad = memberOf(verdict, "first_bad"); bad && bad->is_object())
        out += labelled("first bad row",
                        std::to_string(numberOf(*bad, "seq")) + " of " +
                            (textOf(*bad, "scope_fingerprint").empty() ? "the server's own ledger"
                                                                       : textOf(*bad, "scope_fingerprint")) +
                            ": " + textOf(*bad, "reason"));
    out += labelled("public key", textOf(verdict, "public_key"));
    return out;
}

Result<json::object> verifyRemotely(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto answer = (*api)->get("/v1/audit/verify" + queryOf({{"ledger", options.ledger}}));
    if (!answer)
        return forward(answer);
    return answer->body.is_object() ? Result<json::object>(answer->body.as_object())
                                    : fail(ErrorCode::Internal, "the server's answer is not a verdict");
}

Result<json::object> verifyFile(Context& context, const Options& options)
{
    std::ifstream file(options.file, std::ios::binary);
    if (!file)
        return fail(ErrorCode::NotFound, options.file + " cannot be read");
    auto key = fromBase64(options.key);
    if (!key)
        return fail(ErrorCode::InvalidArgument, "--key is not a public key in base64");
    auto judged = audit::checkExport(file, std::move(*key));
    if (!judged)
        return forward(judged);
    if (options.key.empty())
        context.console.error("the anchors were checked against the key that the file itself names; give the server's "
                              "with --key\n");
    if (!judged->complete)
        context.console.error("the file says that a filter left it: each row was checked, but not whether rows are "
                              "missing\n");
    else if (judged->verdict.valid && judged->anchoredSeq == 0)
        context.console.error("no anchor covers any row: nothing shows that the server wrote them\n");
    else if (judged->verdict.valid && judged->anchoredSeq < judged->lastSeq)
        context.console.error("rows after " + std::to_string(judged->anchoredSeq) +
                              " have no anchor yet: their end cannot be proven\n");
    auto out = contract::toJson(judged->verdict);
    out["complete"] = judged->complete;
    out["last_seq"] = judged->lastSeq;
    out["anchored_seq"] = judged->anchoredSeq;
    out["proven"] = judged->isProof();
    return out;
}

Result<int> verify(Context& context, const Options& options)
{
    auto verdict = options.file.empty() ? verifyRemotely(context, options) : verifyFile(context, options);
    if (!verdict)
        return forward(verdict);
    context.print(*verdict, describe);
    const json::value* valid = verdict->if_contains("valid");
    const json::value* proven = verdict->if_contains("proven");
    const bool isEnough = options.key.empty() || options.partial || !proven || *proven == json::value(true);
    return valid && *valid == json::value(true) && isEnough ? kDone : kFailed;
}

} // namespace

void addAuditVerify(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("verify", "Check every row's hash and every anchor: on the server, or of an exported "
                                           "FILE without one; exits with 1 when a row is bad, with --key "
                                           "also when the file is not whole or no anchor covers it");
    command.option("FILE", options->file, "An export; the server's ledger when absent");
    command.option("--key", options->key, "The server's public key (base64), for a file");
    command.flag("--partial", options->partial, "With --key, accept a file that a filter left or without an anchor");
    command.option("--ledger", options->ledger, "scope or server; what the token may read when absent");
    onCommand(command, context, std::move(options), verify);
}

} // namespace assay::cli
