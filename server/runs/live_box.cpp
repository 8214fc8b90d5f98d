// SPDX-License-Identifier: Apache-2.0
#include "server/runs/live_box.h"

namespace assay::runs {

namespace {

class SandboxBox final : public LiveBox
{
public:
    explicit SandboxBox(std::unique_ptr<sandbox::Box> box) : m_box(std::move(box)) {}

    Result<void> verifyPackages() override { return m_box->verifyPackages(); }
    Result<void> putFile(std::string_view path, std::string_view bytes) override
    {
        constexpr bool executable = false;
        return m_box->putFile(path, bytes, executable);
    }
    Result<sandbox::CommandResult> run(const sandbox::Command& command, sandbox::OutputSink& sink,
                                       std::stop_token cancel) override
    {
        return m_box->run(command, sink, std::move(cancel));
    }
    Result<std::vector<sandbox::RefusedOutput>>
    collect(const std::vector<std::string>& globs,
            const std::function<Result<void>(sandbox::CollectedFile)>& each) override
    {
        return m_box->collect(globs, sandbox::CollectLimits{}, each);
    }
    Result<sandbox::WorkspaceUsage> measureWorkspace() override { return m_box->measureWorkspace(); }
    sandbox::BoxMeter usage() const override { return m_box->usage(); }
    void kill() override { m_box->kill(); }
    Result<void> destroy() override { return m_box->destroy(); }

private:
    std::unique_ptr<sandbox::Box> m_box;
};

} // namespace

Result<std::unique_ptr<LiveBox>> makeLiveBox(sandbox::BoxDriver& driver, sandbox::BoxSpec spec)
{
    auto handle = driver.create(spec);
    if (!handle)
        return forward(handle);
    auto box = sandbox::Box::open(std::move(*handle), std::move(spec));
    if (!box)
        return forward(box);
    return std::make_unique<SandboxBox>(std::move(*box));
}

} // namespace assay::runs
