// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/runs/live_box.h"
#include "server/runs/materializer.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace assay::test {

/// What the fake box does and saw; shared by the test and the box.
struct BoxScript
{
    std::mutex mutex;
    std::vector<std::string> calls;
    std::vector<sandbox::Command> commands;
    std::map<std::string, std::string> placed;
    std::optional<Error> createError;
    std::optional<Error> verifyError;
    std::optional<Error> runError;
    std::function<void()> onCollect;
    std::optional<Error> destroyError;
    sandbox::CommandResult result;
    std::string output;
    bool blockUntilCancelled = false;
    std::atomic<bool> running{false};
    std::vector<sandbox::CollectedFile> files;
    std::vector<sandbox::RefusedOutput> refused;
    sandbox::BoxSpec spec;

    void note(std::string call)
    {
        const std::lock_guard lock(mutex);
        calls.push_back(std::move(call));
    }
    std::string joined()
    {
        const std::lock_guard lock(mutex);
        std::string out;
        for (const auto& call : calls)
            out += call + " ";
        return out;
    }
};

inline sandbox::CommandResult exited(int status)
{
    sandbox::CommandResult out;
    out.termination = sandbox::Termination::Exited;
    out.exitCode = status;
    out.wall = std::chrono::milliseconds(3);
    return out;
}

class FakeBox final : public runs::LiveBox
{
public:
    explicit FakeBox(BoxScript& script) : m_script(script) {}
    ~FakeBox() override { m_script.note("gone"); }
    Result<void> verifyPackages() override
    {
        m_script.note("verify");
        return m_script.verifyError ? Result<void>(std::unexpected(*m_script.verifyError)) : Result<void>{};
    }
    Result<void> putFile(std::string_view path, std::string_view bytes) override
    {
        m_script.note("put");
        m_script.placed.emplace(path, bytes);
        return {};
    }
    Result<sandbox::CommandResult> run(const sandbox::Command& command, sandbox::OutputSink& sink,
                                       std::stop_token cancel) override
    {
        m_script.note("run");
        m_script.commands.push_back(command);
        if (m_script.runError)
            return std::unexpected(*m_script.runError);
        if (!m_script.output.empty())
            sink.onOutput({.stream = sandbox::OutputStream::Stdout,
                           .seq = 0,
                           .sinceStart = std::chrono::milliseconds(1),
                           .bytes = m_script.output});
        auto result = m_script.result;
        result.out = {.head = m_script.output, .tail = {}, .totalBytes = m_script.output.size()};
        if (m_script.blockUntilCancelled) {
            m_script.running = true;
            while (!cancel.stop_requested())
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            result.termination = sandbox::Termination::Cancelled;
            result.exitCode.reset();
        }
        return result;
    }
    Result<std::vector<sandbox::RefusedOutput>>
    collect(const std::vector<std::string>&, const std::function<Result<void>(sandbox::CollectedFile)>& each) override
    {
        m_script.note("collect");
        if (m_script.onCollect)
            m_script.onCollect();
        for (const auto& file : m_script.files)
            if (auto kept = each(file); !kept)
                return forward(kept);
        return m_script.refused;
    }
    Result<sandbox::WorkspaceUsage> measureWorkspace() override { return sandbox::WorkspaceUsage{.usedBytes = 7}; }
    sandbox::BoxMeter usage() const override
    {
        return {.cpu = std::chrono::microseconds(2500), .peakMemoryBytes = 11, .hard = true};
    }
    void kill() override { m_script.note("kill"); }
    Result<void> destroy() override
    {
        m_script.note("destroy");
        return m_script.destroyError ? Result<void>(std::unexpected(*m_script.destroyError)) : Result<void>{};
    }

private:
    BoxScript& m_script;
};

/// Never used by the fake box; only its name is.
class FakeDriver final : public sandbox::BoxDriver
{
public:
    std::string_view name() const override { return "fake"; }
    sandbox::DriverStatus probe() override { return {}; }
    Result<std::unique_ptr<sandbox::BoxHandle>> create(const sandbox::BoxSpec&) override
    {
        return fail(ErrorCode::Internal, "unused");
    }
    Result<std::vector<std::string>> reap() override { return std::vector<std::string>{}; }
};

/// Artifacts in memory; `full` makes it refuse.
class MemoryStore final : public store::SkillPackageStore
{
public:
    std::string identity() const override { return "memory"; }
    Result<void> put(std::string_view scope, const Digest& digest, std::span<const std::string_view> pieces) override
    {
        if (full)
            return fail(ErrorCode::Unavailable, "the disk is full");
        std::string bytes;
        for (const auto piece : pieces)
            bytes += piece;
        objects[{std::string(scope), digest}] = bytes;
        return {};
    }
    Result<store::Bundle> fetch(std::string_view, const Digest&) override { return fail(ErrorCode::NotFound, "none"); }
    Result<void> remove(std::string_view, const Digest&) override { return {}; }
    Result<std::vector<store::StoredBundle>> list(const store::BundleKey*, std::uint32_t) override { return {}; }
    Result<bool> removeIn(store::Connection&, const store::BundleKey&, Timestamp) override { return false; }
    std::map<std::pair<std::string, Digest>, std::string> objects;
    bool full = false;
};

} // namespace assay::test
