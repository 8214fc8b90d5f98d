// SPDX-License-Identifier: Apache-2.0
// A RunService by hand, linked in place of the real one: every run succeeds at once with one command and one artifact,
// except with the driver "none", which refuses. It keeps scopes apart by the fingerprint alone.
#include "server/core/ids.h"
#include "server/runs/run_service.h"

#include <mutex>

namespace assay::runs {

struct RunService::State
{
    std::mutex mutex;
    const Clock& clock;
    std::vector<contract::Run> runs;
};

namespace {

const std::string kOutput = "hello\n";

std::unexpected<Error> missing(const char* what)
{
    return fail(ErrorCode::NotFound, std::string("there is no such ") + what);
}

contract::CommandResult ended(Timestamp now)
{
    return {.id = newId("cmd_", now),
            .state = "ended",
            .exitCode = 0,
            .termination = "exited",
            .stdoutBytes = kOutput,
            .stderrBytes = "\xff",
            .stdoutTotal = kOutput.size(),
            .stderrTotal = 3,
            .droppedBytes = 2,
            .startedAt = now,
            .endedAt = now};
}

contract::Run succeeded(const auth::Identity& by, const contract::StartRun& request, Timestamp now)
{
    contract::Run run{.id = newId("run_", now),
                      .state = "succeeded",
                      .agent = request.agent,
                      .skills = {},
                      .scopeFingerprint = by.scopeFingerprint,
                      .manifestDigest = Digest::ofBytes("{}").text(),
                      .driver = "fake",
                      .baseDigest = "host, unpinned",
                      .session = request.session,
                      .phases = {{"running", now, now}},
                      .commands = {ended(now)},
                      .usage = contract::RunUsage{.limitsEnforcement = "soft"},
                      .termination = "exited",
                      .createdAt = now,
                      .endedAt = now};
    run.artifacts.push_back({newId("art_", now), run.id, "report/a b.csv", Digest::ofBytes(kOutput).text(),
                             kOutput.size(), "text/csv", now});
    return run;
}

class OneEvent final : public EventCursor
{
public:
    explicit OneEvent(std::uint64_t lastId) : m_lastId(lastId) {}
    Batch read(std::size_t) override
    {
        if (m_lastId >= 1)
            return {{}, true};
        return {{{1, "end", R"({"state":"succeeded"})"}}, true};
    }
    void onReady(std::function<void()> notify) override { notify(); }

private:
    std::uint64_t m_lastId;
};

} // namespace

RunService::RunService(store::Database&, registry::SkillService&, registry::AgentService&, store::SkillPackageStore&,
                       BoxProvider&, const Clock& clock, RunSettings, Metrics*)
    : m_state(new State{{}, clock, {}})
{}
RunService::~RunService() = default;
Result<std::uint64_t> RunService::recover() { return 0; }
void RunService::stop(std::chrono::milliseconds) {}

Result<contract::Run> RunService::start(const auth::Identity& by, contract::StartRun request)
{
    const std::lock_guard lock(m_state->mutex);
    contract::Run run = succeeded(by, request, m_state->clock.now());
    if (request.driver == "none") {
        run.state = "refused";
        run.reason = "driver_unavailable";
    }
    m_state->runs.push_back(run);
    if (run.state == "refused")
        return refuse(run.reason, "there is no such driver");
    return run;
}

Result<contract::Page<contract::Run>> RunService::list(const auth::Identity& by, const contract::RunFilter& filter,
                                                       const contract::PageRequest&)
{
    const std::lock_guard lock(m_state->mutex);
    contract::Page<contract::Run> page;
    for (const contract::Run& run : m_state->runs)
        if (run.scopeFingerprint == by.scopeFingerprint && (filter.state.empty() || filter.state == run.state))
            page.items.push_back(run);
    return page;
}

Result<contract::Run> RunService::find(const auth::Identity& by, std::string_view id)
{
    const std::lock_guard lock(m_state->mutex);
    for (const contract::Run& run : m_state->runs)
        if (run.scopeFingerprint == by.scopeFingerprint && run.id == id)
            return run;
    return missing("run");
}

Result<RunService::Manifest> RunService::manifest(const auth::Identity& by, std::string_view id)
{
    auto run = find(by, id);
    if (!run)
        return forward(run);
    return Manifest{"{}", run->manifestDigest};
}

Result<contract::CommandResult> RunService::startCommand(const auth::Identity& by, std::string_view id,
                                                         contract::StartCommand)
{
    auto run = find(by, id);
    if (!run)
        return forward(run);
    return run->session ? Result<contract::CommandResult>(run->commands.front())
                        : fail(ErrorCode::Conflict, "this run is no session");
}

Result<contract::CommandResult> RunService::command(const auth::Identity& by, std::string_view id,
                                                    std::string_view command)
{
    auto run = find(by, id);
    if (!run)
        return forward(run);
    return run->commands.front().id == command ? Result<contract::CommandResult>(run->commands.front())
                                               : missing("command");
}

Result<std::unique_ptr<EventCursor>> RunService::events(const auth::Identity& by, std::string_view id,
                                                        std::uint64_t lastId)
{
    auto run = find(by, id);
    if (!run)
        return forward(run);
    return std::make_unique<OneEvent>(lastId);
}

Result<contract::Run> RunService::cancel(const auth::Identity& by, std::string_view id) { return find(by, id); }
Result<contract::Run> RunService::finish(const auth::Identity& by, std::string_view id) { return find(by, id); }

Result<std::vector<contract::RevisionFile>> RunService::skillFiles(const auth::Identity& by, std::string_view id,
                                                                   std::string_view)
{
    auto run = find(by, id);
    if (!run)
        return forward(run);
    return std::vector<contract::RevisionFile>{
        {"a.txt", Digest::ofBytes(kOutput).text(), kOutput.size(), false, "text", "text/plain"}};
}

Result<registry::SkillService::FileContent> RunService::skillFile(const auth::Identity& by, std::string_view id,
                                                                  std::string_view, std::string_view)
{
    auto run = find(by, id);
    if (!run)
        return forward(run);
    return registry::SkillService::FileContent{
        {"a.txt", Digest::ofBytes(kOutput).text(), kOutput.size(), false, "text", "text/plain"}, kOutput, nullptr, ""};
}

Result<contract::Page<contract::Artifact>> RunService::artifacts(const auth::Identity& by, std::string_view id,
                                                                 const contract::PageRequest&)
{
    auto run = find(by, id);
    if (!run)
        return forward(run);
    return contract::Page<contract::Artifact>{run->artifacts, {}};
}

Result<contract::Artifact> RunService::artifact(const auth::Identity& by, std::string_view artifactId)
{
    const std::lock_guard lock(m_state->mutex);
    for (const contract::Run& run : m_state->runs)
        if (run.scopeFingerprint == by.scopeFingerprint && run.artifacts.front().id == artifactId)
            return run.artifacts.front();
    return missing("artifact");
}

Result<RunService::ArtifactContent> RunService::artifactContent(const auth::Identity& by, std::string_view artifactId)
{
    auto found = artifact(by, artifactId);
    if (!found)
        return forward(found);
    return ArtifactContent{*found, store::Bundle(kOutput, nullptr)};
}

std::uint64_t RunService::stopPinned(const Stopped&) { return 2; }

RunService::Load RunService::load() const { return {}; }
store::Removed RunService::sweepTrees(std::chrono::milliseconds, store::Removal) { return {}; }

} // namespace assay::runs
