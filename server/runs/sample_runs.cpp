// SPDX-License-Identifier: Apache-2.0
#include "server/runs/sample_runs.h"

#include "server/core/ids.h"
#include "server/runs/comparison_report.h"

namespace assay::runs {

namespace {

/// A run that could not start, as the answer tells it. A refused run is on record: its problem points at it.
contract::SampleRun notStarted(const std::string& sample, const Error& why)
{
    contract::SampleRun out{sample, {}, "refused", why.reason.empty() ? why.message : why.reason};
    constexpr std::string_view kRuns = "/v1/runs/";
    for (const Problem& problem : why.problems)
        if (problem.pointer.starts_with(kRuns))
            out.run = problem.pointer.substr(kRuns.size());
    return out;
}

} // namespace

Result<contract::Run> SampleRuns::startOne(const auth::Identity& by, std::string_view skill,
                                           const std::string& revision, const contract::SampleInput& input)
{
    contract::StartRun request;
    request.skills = {std::string(skill)};
    request.revisions = {{std::string(skill), revision}};
    contract::RunCommand& command = request.command.emplace();
    command.skill = skill;
    command.script = input.script;
    command.args = input.args;
    command.input = input.input;
    command.stdinText = input.stdinText;
    request.files = input.files;
    return m_runs.start(by, std::move(request));
}

Result<std::vector<contract::SampleRun>> SampleRuns::test(const auth::Identity& by, std::string_view proposal)
{
    auto subject = m_desk.proposals().find(by, proposal);
    if (!subject)
        return forward(subject);
    if (subject->closedAt)
        return std::unexpected(Error{ErrorCode::Conflict,
                                     "the proposal is " + subject->state + " and takes no more test runs",
                                     {},
                                     "proposal_closed",
                                     {}});
    const auto digest = Digest::parse(subject->subject.digest);
    if (!digest)
        return std::unexpected(digest.error());
    auto samples = m_desk.samples().saved(by, subject->skill);
    if (!samples)
        return forward(samples);
    if (samples->empty())
        return fail(ErrorCode::Conflict, "the skill has no saved sample inputs; save one first");
    std::vector<contract::SampleRun> out;
    for (const review::SavedSample& saved : *samples) {
        const std::string& name = saved.sample.name;
        auto run = startOne(by, subject->skill, subject->subject.revision, saved.sample.input);
        if (!run) {
            out.push_back(notStarted(name, run.error()));
            continue;
        }
        if (auto kept = m_desk.samples().ran(by, subject->skill, *digest, saved, run->id); !kept)
            return forward(kept);
        out.push_back({name, run->id, run->state, run->reason});
    }
    return out;
}

Result<contract::SampleInput> SampleRuns::inputOf(const auth::Identity& by, std::string_view skill,
                                                  const contract::NewComparison& asked)
{
    if (asked.input)
        return *asked.input;
    auto sample = m_desk.samples().find(by, skill, asked.sample);
    if (!sample)
        return forward(sample);
    return std::move(sample->input);
}

Result<contract::Comparison> SampleRuns::compare(const auth::Identity& by, std::string_view skill,
                                                 const contract::NewComparison& asked)
{
    auto from = m_skills.revision(by, skill, asked.from);
    if (!from)
        return forward(from);
    auto to = m_skills.revision(by, skill, asked.to);
    if (!to)
        return forward(to);
    auto input = inputOf(by, skill, asked);
    if (!input)
        return forward(input);
    auto first = startOne(by, skill, from->id, *input);
    if (!first)
        return forward(first);
    auto second = startOne(by, skill, to->id, *input);
    const store::ComparisonRow row{
        newId("cmp_", m_clock.now()),        std::string(skill), asked.sample, from->id, first->id, to->id,
        second ? second->id : std::string(), by.principal,       m_clock.now()};
    auto kept = second ? m_desk.samples().addComparison(by, row) : Result<void>(forward(second));
    if (!kept) {
        (void)m_runs.cancel(by, first->id);
        return forward(kept);
    }
    return report(by, row);
}

Result<contract::Comparison> SampleRuns::comparison(const auth::Identity& by, std::string_view skill,
                                                    std::string_view id)
{
    auto row = m_desk.samples().comparison(by, skill, id);
    if (!row)
        return forward(row);
    return report(by, *row);
}

Result<contract::Comparison> SampleRuns::report(const auth::Identity& by, const store::ComparisonRow& row)
{
    auto from = m_runs.find(by, row.fromRun);
    if (!from)
        return forward(from);
    auto to = m_runs.find(by, row.toRun);
    if (!to)
        return forward(to);
    return compareRuns(row, std::move(*from), std::move(*to));
}

} // namespace assay::runs
