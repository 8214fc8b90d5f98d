// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/box_driver.h"
#include "server/sandbox/bubblewrap/failure.h"
#include "server/sandbox/bubblewrap/folder_mounts.h"
#include "server/sandbox/bubblewrap/launcher.h"
#include "server/sandbox/bubblewrap/options.h"
#include "server/sandbox/bubblewrap/soft_limits.h"
#include "server/sandbox/cgroup/hierarchy.h"

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace assay::sandbox::bubblewrap {

struct BoxParts;
struct Launch;

/// Makes boxes with bubblewrap; docs/box.md says what is in one. A server that is root starts bubblewrap as another,
/// unprivileged user, and never as itself. Thread-safe. Outlives its boxes.
class Driver final : public BoxDriver
{
public:
    /// Makes what all boxes share: the filter, the box's /etc, the launcher. A machine that cannot make boxes still
    /// gets a driver, whose `probe` says why and whose `create` refuses. Fails only for a data directory that cannot be
    /// used or options that cannot be meant (uid 0).
    static Result<std::unique_ptr<Driver>> open(Options options);
    ~Driver() override;

    std::string_view name() const override { return "bubblewrap"; }
    DriverStatus probe() override;
    Result<std::unique_ptr<BoxHandle>> create(const BoxSpec& spec) override;
    Result<std::vector<std::string>> reap() override;

    /// "assay-<instance>" is the folder of this server's control groups.
    const std::string& instance() const { return m_instance; }

private:
    explicit Driver(Options options) : m_options(std::move(options)) {}
    void prepare();
    Result<void> prepareLauncher();
    void unusable(Diagnosis why) { m_unusable = std::move(why); }
    Result<void> claim(const std::string& id);
    void release(const std::string& id);
    Result<std::unique_ptr<BoxHandle>> start(const BoxSpec& spec);
    Result<void> limit(const BoxSpec& spec, BoxParts& parts);
    Result<void> stage(const BoxSpec& spec, Launch& launch);
    std::unexpected<Error> refused(const Error& cause, const std::string& message) const;

    Options m_options;
    std::string m_instance;
    std::optional<Diagnosis> m_unusable;
    bool m_root = false;
    std::filesystem::path m_etc;
    UniqueFd m_empty; ///< an empty folder, the second layer of read-only overlays
    UniqueFd m_program;
    seccomp::Filter m_filter;
    cgroup::Hierarchy m_hierarchy;
    std::mutex m_mutex; ///< guards m_alive
    std::set<std::string> m_alive;
    std::unique_ptr<Launcher> m_launcher;
    FolderMounts m_folders;
    SoftLimits m_soft;
};

} // namespace assay::sandbox::bubblewrap
