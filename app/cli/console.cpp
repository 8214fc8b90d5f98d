// SPDX-License-Identifier: Apache-2.0
#include "app/cli/console.h"

#include "server/core/text.h"

#include <cerrno>
#include <cstdio>
#include <poll.h>
#include <unistd.h>

namespace assay::cli {

namespace {

bool isHidden(char32_t point)
{
    const auto within = [point](char32_t first, char32_t last) { return point >= first && point <= last; };
    return point < 0x20 || within(0x7f, 0x9f) || point == 0x061c || within(0x200b, 0x200f) || within(0x2028, 0x202e) ||
           within(0x2060, 0x2069) || point == 0xfeff || within(0xe0000, 0xe007f);
}

std::string_view remedy(const Error& error)
{
    switch (error.code) {
    case ErrorCode::Unauthenticated:
        return "set ASSAY_TOKEN, or write `token = ...` to the profile; `assayctl token create` makes one";
    case ErrorCode::PermissionDenied:
        return "ask the operator for a token with the role that this needs; docs/tokens.md has the table of roles";
    case ErrorCode::PreconditionFailed:
        return "look at the present state, then repeat the command";
    case ErrorCode::RateLimited:
        return "wait a little, then repeat the command";
    case ErrorCode::Refused:
        if (error.reason == "driver_unavailable" || error.reason == "environment_unavailable")
            return "`assayctl health` says what the machine lacks";
        return error.reason == "skill_not_found" ? "`assayctl skill list` shows what there is" : "";
    default:
        return {};
    }
}

} // namespace

std::string plain(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const std::string_view before = text;
        const char32_t point = takeCodePoint(text);
        const std::string_view bytes = before.substr(0, before.size() - text.size());
        char escape[16];
        if (point == 0xfffd && bytes.size() == 1) {
            std::snprintf(escape, sizeof escape, "\\x%02X",
                          static_cast<unsigned>(static_cast<unsigned char>(bytes[0])));
            out += escape;
        } else if (isHidden(point)) {
            std::snprintf(escape, sizeof escape, "\\u{%04X}", static_cast<unsigned>(point));
            out += escape;
        } else {
            out += bytes;
        }
    }
    return out;
}

std::string sizeText(std::uint64_t bytes)
{
    constexpr std::string_view kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit)
        value /= 1024;
    char text[48];
    std::snprintf(text, sizeof text, unit ? "%.1f %s" : "%.0f %s", value, kUnits[unit].data());
    return text;
}

std::string durationText(std::uint64_t milliseconds)
{
    char text[48];
    if (milliseconds < 1000)
        std::snprintf(text, sizeof text, "%u ms", static_cast<unsigned>(milliseconds));
    else if (milliseconds < 120'000)
        std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(milliseconds) / 1000);
    else
        std::snprintf(text, sizeof text, "%llu min %llu s", static_cast<unsigned long long>(milliseconds / 60'000),
                      static_cast<unsigned long long>(milliseconds / 1000 % 60));
    return text;
}

void TextTable::add(std::vector<std::string> cells)
{
    for (std::string& cell : cells)
        cell = plain(cell);
    m_rows.push_back(std::move(cells));
}

std::string TextTable::text() const
{
    std::vector<std::size_t> widths;
    for (const auto& row : m_rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], countCodePoints(row[i]));
    }
    std::string out;
    for (const auto& row : m_rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            out += row[i];
            if (i + 1 < row.size())
                out.append(widths[i] - countCodePoints(row[i]) + 2, ' ');
        }
        out += '\n';
    }
    return out;
}

void Console::write(int fd, std::string_view bytes, bool& broken)
{
    while (!bytes.empty() && !broken) {
        const ssize_t count = ::write(fd, bytes.data(), bytes.size());
        if (count >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(count));
        } else if (errno == EAGAIN) {
            pollfd one{fd, POLLOUT, 0};
            ::poll(&one, 1, 1000);
        } else {
            broken = errno != EINTR;
        }
    }
}

bool Console::hasTerminal() const { return ::isatty(2) == 1; }

bool Console::outputIsTerminal() const { return ::isatty(1) == 1; }

void Console::progress(std::string_view text)
{
    if (!hasTerminal())
        return;
    error("\r\x1b[K" + plain(text));
    m_progressShown = true;
}

void Console::endProgress()
{
    if (std::exchange(m_progressShown, false))
        error("\r\x1b[K");
}

std::string problemText(const Problem& problem, std::string_view folder)
{
    std::string out;
    if (!problem.path.empty()) {
        out += folder.empty() ? "" : std::string(folder) + (folder.ends_with('/') ? "" : "/");
        out += plain(problem.path);
        out += problem.line ? ":" + std::to_string(*problem.line) : "";
        out += problem.line && problem.column ? ":" + std::to_string(*problem.column) : "";
        out += ": ";
    } else if (!problem.pointer.empty()) {
        out += plain(problem.pointer) + ": ";
    }
    out += plain(problem.message);
    if (!problem.code.empty())
        out += " [" + plain(problem.code) + (problem.client.empty() ? "" : ", " + plain(problem.client)) + "]";
    return out;
}

std::string errorText(const Error& error, std::string_view folder)
{
    std::string out = "assayctl: " + plain(error.message);
    if (!error.reason.empty())
        out += " [" + plain(error.reason) + "]";
    out += '\n';
    for (const Problem& problem : error.problems)
        out += "  " + problemText(problem, folder) + '\n';
    if (const std::string_view what = remedy(error); !what.empty())
        out += "what to do: " + std::string(what) + '\n';
    return out;
}

json::object errorJson(const Error& error)
{
    json::object out{{"code", traits(error.code).code}, {"detail", error.message}};
    if (!error.reason.empty())
        out["reason"] = error.reason;
    if (error.problems.empty())
        return out;
    json::array problems;
    for (const Problem& problem : error.problems) {
        json::object one{{"code", problem.code}, {"message", problem.message}};
        if (!problem.path.empty())
            one["path"] = problem.path;
        if (!problem.pointer.empty())
            one["pointer"] = problem.pointer;
        if (problem.line)
            one["line"] = *problem.line;
        if (problem.column)
            one["column"] = *problem.column;
        problems.push_back(std::move(one));
    }
    out["errors"] = std::move(problems);
    return out;
}

} // namespace assay::cli
