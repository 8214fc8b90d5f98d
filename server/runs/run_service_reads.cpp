// SPDX-License-Identifier: Apache-2.0
// The parts of RunService about commands, the pinned view and artifacts.
#include "server/core/ids.h"
#include "server/registry/package.h"
#include "server/runs/effective_limits.h"
#include "server/runs/request_rules.h"
#include "server/runs/run_audit.h"
#include "server/runs/run_service_state.h"

#include <algorithm>
#include <format>

namespace assay::runs {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::unexpected<Error> noSuchCommand() { return fail(ErrorCode::NotFound, "this run has no command of this id"); }
std::unexpected<Error> noSuchArtifact() { return fail(ErrorCode::NotFound, "there is no artifact of this id"); }

Result<sandbox::Command> commandFor(const contract::StartCommand& request, const RunPlan& plan)
{
    auto timeout = effectiveTimeout(request.timeoutMs, plan.limits.command.wall);
    if (!timeout)
        return forward(timeout);
    sandbox::Command command{.argv = request.argv,
                             .env = {request.env.begin(), request.env.end()},
                             .cwd = request.cwd.empty() ? "/workspace" : request.cwd,
                             .stdinBytes = request.stdinText.value_or(""),
                             .limits = plan.limits.command};
    if (!request.shell.empty())
        command.argv = {"bash", "-c", request.shell};
    command.limits.wall = *timeout;
    return command;
}

/// Every command of a box sees all of the run's skills, so a promise of fewer would be empty: the run itself must be
/// the subagent's.
Result<void> checkSubagent(const std::string& subagent, const RunPlan& plan)
{
    if (subagent.empty() || subagent == plan.subagent)
        return {};
    return refuse("policy_denied",
                  std::format("this box shows all skills of its run to every command, so it cannot act "
                              "for the subagent \"{}\" alone; start a run with this subagent",
                              subagent));
}

} // namespace

Result<contract::CommandResult> RunService::startCommand(const auth::Identity& by, std::string_view id,
                                                         contract::StartCommand request)
{
    if (auto valid = checkStartCommand(request); !valid)
        return forward(valid);
    const auto live = m_state->live(by, id);
    if (!live) {
        auto stored = m_state->storedRow(by, id);
        if (!stored)
            return forward(stored);
        return fail(ErrorCode::Conflict, "this run has ended and takes no more commands; start another session");
    }
    if (!live->plan().session)
        return fail(ErrorCode::Conflict, "this run is not a session; start one with session: true");
    if (auto allowed = checkSubagent(request.subagent, live->plan()); !allowed)
        return forward(allowed);
    auto command = commandFor(request, live->plan());
    if (!command)
        return forward(command);
    auto started = m_state->reserveAndQueue(by, *live, std::move(*command));
    if (!started)
        return forward(started);
    const WaitPlaces::Place place(m_state->waitPlaces);
    if (request.waitMs && place)
        live->waitCommand(*started, steady_clock::now() + milliseconds(*request.waitMs));
    return this->command(by, id, *started);
}

// The reservation is durable before the command can reach a box; without one nothing runs.
Result<std::string> RunService::State::reserveAndQueue(const auth::Identity& by, LiveRun& run, sandbox::Command command)
{
    auto carrier = broker->admit(by, run);
    if (!carrier)
        return forward(carrier);
    const std::string id = newId("cmd_", clock.now());
    const auto record = commandRecord(by, run.plan(), id, command.cwd);
    auto reservation = records.reserve(record);
    if (!reservation)
        return forward(reservation);
    auto added = run.addCommand({id, std::move(command), std::move(*carrier), *reservation});
    if (added)
        return id;
    // The session began to end meanwhile.
    CommandEnding ending{*reservation, refusedRecord(record, traits(added.error().code).code)};
    if (auto done = records.complete({ending}); !done) {
        if (settings.report)
            settings.report(run.plan().runId, done.error());
        records.completeLater(std::move(ending));
    }
    return forward(added);
}

Result<contract::CommandResult> RunService::command(const auth::Identity& by, std::string_view id,
                                                    std::string_view command)
{
    if (!isId(id, "run_"))
        return noSuchRun();
    if (const auto live = m_state->live(by, id)) {
        const auto known = live->command(command);
        if (!known)
            return noSuchCommand();
        if (!known->stored)
            return toContract(known->row);
    }
    if (!isId(command, "cmd_"))
        return noSuchCommand();
    auto stored = m_state->records.command(by.scopeFingerprint, id, command);
    if (!stored)
        return forward(stored);
    if (*stored)
        return std::move(**stored);
    if (auto run = m_state->storedRow(by, id); !run)
        return forward(run);
    return noSuchCommand();
}

Result<std::vector<contract::RevisionFile>> RunService::skillFiles(const auth::Identity& by, std::string_view id,
                                                                   std::string_view skill)
{
    auto pinned = m_state->pinnedSkill(by, id, skill);
    if (!pinned)
        return forward(pinned);
    return std::move(pinned->files);
}

Result<registry::SkillService::FileContent> RunService::skillFile(const auth::Identity& by, std::string_view id,
                                                                  std::string_view skill, std::string_view path)
{
    auto pinned = m_state->pinnedSkill(by, id, skill);
    if (!pinned)
        return forward(pinned);
    const auto file = std::ranges::find(pinned->files, path, &contract::RevisionFile::path);
    if (file == pinned->files.end())
        return fail(ErrorCode::NotFound, "the pinned revision has no file of this path");
    auto bundle = m_state->skills.bundle(by.scopeFingerprint, pinned->digest);
    if (!bundle)
        return forward(bundle);
    auto files = registry::parseCanonicalStream(bundle->bytes());
    if (!files)
        return forward(files);
    const auto stored = std::ranges::find(*files, path, &registry::PackageFile::path);
    if (stored == files->end() || Digest::ofBytes(stored->content).text() != file->sha256)
        return refuse("digest_mismatch", "the stored package does not hold this file as the manifest pins it");
    return registry::SkillService::FileContent{.file = std::move(*file),
                                               .bytes = stored->content,
                                               .storage = bundle->storage(),
                                               .revisionDigest = pinned->digest.text()};
}

Result<contract::Page<contract::Artifact>> RunService::artifacts(const auth::Identity& by, std::string_view id,
                                                                 const contract::PageRequest& page)
{
    if (auto run = m_state->storedRow(by, id); !run)
        return forward(run);
    return m_state->records.artifacts(by.scopeFingerprint, id, page);
}

Result<contract::Artifact> RunService::artifact(const auth::Identity& by, std::string_view artifactId)
{
    if (!isId(artifactId, "art_"))
        return noSuchArtifact();
    auto row = m_state->records.artifact(by.scopeFingerprint, artifactId);
    if (!row)
        return forward(row);
    if (!*row)
        return noSuchArtifact();
    return toContract(**row);
}

Result<RunService::ArtifactContent> RunService::artifactContent(const auth::Identity& by, std::string_view artifactId)
{
    auto found = artifact(by, artifactId);
    if (!found)
        return forward(found);
    auto digest = Digest::parse(found->sha256);
    if (!digest)
        return forward(digest);
    auto bytes = m_state->artifacts.fetch(by.scopeFingerprint, *digest);
    if (!bytes)
        return fail(bytes.error().code == ErrorCode::NotFound ? ErrorCode::Internal : bytes.error().code,
                    "this artifact's bytes cannot be read: " + bytes.error().message, bytes.error().detail);
    return ArtifactContent{.artifact = std::move(*found), .bytes = std::move(*bytes)};
}

} // namespace assay::runs
