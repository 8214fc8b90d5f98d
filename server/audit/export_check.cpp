// SPDX-License-Identifier: Apache-2.0
#include "server/audit/export_check.h"

#include "server/audit/row_entry.h"
#include "server/core/base64.h"

namespace assay::audit {

namespace {

constexpr std::size_t kMaxLineBytes = 16 * 1024;

std::unexpected<Error> badLine(std::uint64_t number, const std::string& why)
{
    return fail(ErrorCode::InvalidArgument, "line " + std::to_string(number) + ": " + why);
}

/// The next line; none at the end. Of bounded length.
Result<std::optional<json::value>> nextLine(std::istream& lines, std::uint64_t& number)
{
    std::string text;
    ++number;
    for (char c = 0; lines.get(c) && c != '\n';) {
        if (text.size() >= kMaxLineBytes)
            return badLine(number, "it is over " + std::to_string(kMaxLineBytes) + " bytes");
        text.push_back(c);
    }
    if (lines.bad())
        return badLine(number, "it cannot be read");
    if (text.empty())
        return lines.eof() ? Result<std::optional<json::value>>(std::nullopt) : badLine(number, "it is empty");
    auto value = parseJson(text);
    return value ? Result<std::optional<json::value>>(std::move(*value)) : badLine(number, "it is not JSON");
}

/// Gives one line to the check: false after a fault.
Result<bool> judgeLine(const json::value& line, std::uint64_t number, ChainCheck& check, std::int64_t& anchored)
{
    if (line.is_object() && line.as_object().contains("anchor")) {
        const auto entry = contract::readAuditAnchor(line);
        const auto anchor = entry ? anchorOf(*entry) : Result<Anchor>(std::unexpected(entry.error()));
        if (!anchor)
            return badLine(number, anchor.error().message);
        const bool isGood = check.anchor(*anchor);
        anchored = isGood ? anchor->seq : anchored;
        return isGood;
    }
    const auto entry = contract::readAuditEntry(line);
    const auto row = entry ? rowOf(*entry) : Result<Row>(std::unexpected(entry.error()));
    if (!row)
        return badLine(number, row.error().message);
    return check.row(*row);
}

} // namespace

Result<ExportVerdict> checkExport(std::istream& lines, std::string publicKey)
{
    std::uint64_t number = 0;
    auto first = nextLine(lines, number);
    if (!first)
        return forward(first);
    auto header = *first ? contract::readAuditExport(**first)
                         : Result<contract::AuditExport>(fail(ErrorCode::InvalidArgument, "it is empty"));
    if (!header || header->format != "assay-ledger-v1")
        return badLine(number, header ? "its format is not known here" : header.error().message);
    if (publicKey.empty())
        publicKey = fromBase64(header->publicKey).value_or("");
    ExportVerdict out{.verdict = {.keyId = keyIdOf(publicKey), .publicKey = toBase64(publicKey)},
                      .complete = header->complete};
    ChainCheck check(header->scopeFingerprint, publicKey,
                     header->complete ? ChainCheck::Extent::Whole : ChainCheck::Extent::Filtered);
    for (;;) {
        auto line = nextLine(lines, number);
        if (!line)
            return forward(line);
        if (!*line)
            break;
        auto isGood = judgeLine(**line, number, check, out.anchoredSeq);
        if (!isGood)
            return forward(isGood);
        if (!*isGood)
            break;
    }
    out.verdict.valid = !check.fault();
    out.verdict.firstBad = check.fault();
    out.verdict.checked = check.rows();
    out.verdict.anchors = check.anchors();
    out.lastSeq = check.lastSeq();
    return out;
}

} // namespace assay::audit
