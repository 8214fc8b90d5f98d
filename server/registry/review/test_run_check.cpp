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

/// The most output that can still be what is expected: written out with blanks and escapes.
std::uint64_t maxOutputBytes(const json::value& expected)
{
    constexpr std::uint64_t kRoom = 16ULL << 10;
    return 8 * json::serialize(expected).size() + kRoom;
}

/// Judged in the transaction of a promotion: what cannot be the expected output by its size alone is never read.
Result<Check::Verdict> judgeOutput(store::Connection& connection, const CheckSubject& subject,
                                   const contract::Sample& sample, const json::value& expected,
                                   const store::RunRow& run, const store::CommandRow& command)
{
    const std::uint64_t most = maxOutputBytes(expected);
    if (command.out.totalBytes > most)
        return failed(sample, std::format("gave {} bytes of output, more than the {} that what it must give can take",
                                          command.out.totalBytes, most));
    auto out = store::CommandTable(connection).standardOutput(subject.scope, run.id, command.id);
    if (!out)
        return forward(out);
    const std::string kept = out->head + out->tail;
    if (kept.size() != command.out.totalBytes)
        return failed(sample,
                      std::format("gave {} bytes of output of which {} were kept; save a sample that gives less",
                                  command.out.totalBytes, kept.size()));
    if (!isExpectedOutput(expected, kept))
        return failed(sample, "gave another output than it must");
    return Check::Verdict{State::Pass, {}};
}

Result<Check::Verdict> judgeEnd(store::Connection& connection, const CheckSubject& subject,
                                const contract::Sample& sample, const store::RunRow& run)
{
    const bool exited = run.state == "succeeded" || (run.state == "failed" && run.reason == "exit_status");
    if (!exited)
        return failed(sample, std::format("ended as {} ({})", run.state, run.reason));
    auto commands = store::CommandTable(connection).list(subject.scope, run.id, store::WithOutput::No, 1);
    if (!commands)
        return forward(commands);
    if (commands->empty() || !commands->front().exitCode)
        return failed(sample, "ended without an exit status");
    const store::CommandRow& command = commands->front();
    const auto& expect = sample.expect;
    const std::int64_t wanted = expect && expect->exitCode ? *expect->exitCode : 0;
    if (*command.exitCode != wanted)
        return failed(sample, std::format("ended with exit status {}, not {}", *command.exitCode, wanted));
    if (expect && expect->output)
        return judgeOutput(connection, subject, sample, *expect->output, run, command);
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
