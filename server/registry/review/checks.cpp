// SPDX-License-Identifier: Apache-2.0
#include "server/registry/review/checks.h"

#include "server/registry/review/built_in_checks.h"

#include <algorithm>
#include <format>

namespace assay::review {

namespace {

std::string_view nameOf(Check::State state)
{
    switch (state) {
    case Check::State::Pass:
        return "pass";
    case Check::State::Fail:
        return "fail";
    case Check::State::Warn:
        return "warn";
    case Check::State::Pending:
        return "pending";
    case Check::State::Unknown:
        return "unknown";
    }
    return "unknown";
}

} // namespace

CheckRegistry::CheckRegistry()
{
    for (auto& check : builtInChecks())
        add(std::move(check));
}

void CheckRegistry::add(std::unique_ptr<Check> check)
{
    const auto same = std::ranges::find(m_checks, check->id(), [](const auto& each) { return each->id(); });
    if (same != m_checks.end())
        *same = std::move(check);
    else
        m_checks.push_back(std::move(check));
}

bool CheckRegistry::has(std::string_view id) const
{
    return std::ranges::contains(m_checks, id, [](const auto& each) { return each->id(); });
}

std::vector<std::string> CheckRegistry::ids() const
{
    std::vector<std::string> out;
    for (const auto& check : m_checks)
        out.emplace_back(check->id());
    return out;
}

Result<std::vector<contract::CheckState>> CheckRegistry::judge(store::Connection& connection,
                                                               const CheckSubject& subject,
                                                               const std::vector<std::string>& required,
                                                               JudgeWhat what) const
{
    std::vector<contract::CheckState> out;
    for (const auto& check : m_checks) {
        const bool isRequired = std::ranges::contains(required, check->id());
        if (what == JudgeWhat::Required && !isRequired)
            continue;
        auto verdict = check->judge(connection, subject);
        if (!verdict)
            return forward(verdict);
        out.push_back(
            {std::string(check->id()), std::string(nameOf(verdict->state)), std::move(verdict->summary), isRequired});
    }
    for (const std::string& id : required)
        if (!has(id))
            out.push_back({id, "unknown", std::format("this server has no check \"{}\"; ask the operator", id), true});
    return out;
}

} // namespace assay::review
