// SPDX-License-Identifier: Apache-2.0
#include "server/registry/review/test_run_check.h"

#include "server/registry/review/samples.h"
#include "server/store/command_table.h"
#include "server/store/run_table.h"
#include "server/store/sample_table.h"

#include <algorithm>
#include <format>

namespace assay::review {

namespace {

using State = Check::State;

Check::Verdict failed(const contract::Sample& sample, const std::string& what)
{
    return {State::Fail, std::format("the sample \"{}\" {}", sample.name, what)};
}

bool pinnedIt(const store::RunRow& run, const CheckSubject& subject)
{
    return std::ranges::any_of(run.skills, [&](const store::RunSkillRow& skill) {
        return skill.name == subject.skill && skill.digest == subject.revision.digest;
    });
}

Result<Check::Verdict> judgeEnd(store::Connection& connection, const CheckSubject& subject,
                                const contract::Sample& sample, const store::RunRow& run)
{
    const bool exited = run.state == "succeeded" || (run.state == "failed" && run.reason == "exit_status");
    if (!exited)
        return failed(sample, std::format("ended as {} ({})", run.state, run.reason));
    auto commands = store::CommandTable(connection).list(subject.scope, run.id, store::WithOutput::Yes, 1);
    if (!commands)
        return forward(commands);
    if (commands->empty() || !commands->front().exitCode)
        return failed(sample, "ended without an exit status");
    const store::CommandRow& command = commands->front();
    const auto& expect = sample.expect;
    const std::int64_t wanted = expect && expect->exitCode ? *expect->exitCode : 0;
    if (*command.exitCode != wanted)
        return failed(sample, std::format("ended with exit status {}, not {}", *command.exitCode, wanted));
    if (expect && expect->output && !isExpectedOutput(*expect->output, command.out.head + command.out.tail))
        return failed(sample, "gave another output than it must");
    return Check::Verdict{State::Pass, {}};
}

Result<Check::Verdict> judgeSample(store::Connection& connection, const CheckSubject& subject, const SavedSample& saved)
{
    const Check::Verdict missing{
        State::Pending,
        std::format("the sample \"{}\" has not run on this digest yet; start the test runs", saved.sample.name)};
    auto made =
        store::SampleTable(connection)
            .newestRun(subject.scope, subject.skill, subject.revision.digest.value_or(Digest()), saved.sample.name);
    if (!made)
        return forward(made);
    if (!*made || (*made)->sampleVersion != saved.version)
        return missing;
    auto run = store::RunTable(connection).find(subject.scope, (*made)->run);
    if (!run)
        return forward(run);
    if (!*run || !pinnedIt(**run, subject))
        return missing;
    if (!(*run)->endedAt)
        return Check::Verdict{State::Pending, std::format("the sample \"{}\" is running", saved.sample.name)};
    return judgeEnd(connection, subject, saved.sample, **run);
}

} // namespace

bool isExpectedOutput(const json::value& expected, std::string_view output)
{
    if (expected.is_string() && std::string_view(expected.get_string()) == output)
        return true;
    const auto parsed = parseJson(output);
    return parsed && canonicalJson(*parsed) == canonicalJson(expected);
}

Result<Check::Verdict> TestRunCheck::judge(store::Connection& connection, const CheckSubject& subject) const
{
    auto rows = store::SampleTable(connection).list(subject.scope, subject.skill);
    if (!rows)
        return forward(rows);
    if (rows->empty())
        return Verdict{State::Unknown, "the skill has no saved sample inputs; save one to test revisions with"};
    Verdict pending{State::Pass, std::format("{} {} ran as expected on this digest", rows->size(),
                                             rows->size() == 1 ? "sample" : "samples")};
    for (const store::SampleRow& row : *rows) {
        auto sample = makeSample(row);
        if (!sample)
            return Verdict{State::Unknown, sample.error().message};
        auto verdict = judgeSample(connection, subject, *sample);
        if (!verdict || verdict->state == State::Fail)
            return verdict;
        if (verdict->state != State::Pass)
            pending = std::move(*verdict);
    }
    return pending;
}

} // namespace assay::review
