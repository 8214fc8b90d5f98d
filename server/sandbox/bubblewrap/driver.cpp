// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/driver.h"

#include "server/core/digest.h"
#include "server/core/file_io.h"
#include "server/core/random.h"
#include "server/sandbox/bubblewrap/detached_mount.h"
#include "server/sandbox/bubblewrap/etc_tree.h"
#include "server/sandbox/bubblewrap/inspection.h"
#include "server/sandbox/bubblewrap/instance.h"
#include "server/sandbox/bubblewrap/launch.h"
#include "server/sandbox/bubblewrap/memory_file.h"
#include "server/sandbox/bubblewrap/running_box.h"

#include <array>
#include <fcntl.h>
#include <unistd.h>

namespace assay::sandbox::bubblewrap {

namespace fs = std::filesystem;

namespace {

constexpr auto kStartPatience = std::chrono::seconds(5);
/// bubblewrap itself and the box's init do not count as processes of the box's user.
constexpr std::uint32_t kOwnProcesses = 2;
/// Between the reason and the remedy in a refusal; no reason holds it.
constexpr std::string_view kReasonEnd = "; ";
constexpr std::uint64_t kMaxInitBytes = 32U << 20;
constexpr std::uint64_t kTmpInodes = 32'768;
constexpr std::uint64_t kMinInodes = 16'384;
constexpr std::array kBaseFolders{"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "opt"};

fs::path findProgram(const fs::path& named)
{
    if (named.has_parent_path())
        return named;
    for (const char* folder : {"/usr/bin", "/usr/local/bin", "/bin"})
        if (const fs::path path = folder / named; ::access(path.c_str(), X_OK) == 0)
            return path;
    return named;
}

std::uint64_t workspaceInodes(const BoxLimits& limits) { return std::max(kMinInodes, limits.workspaceBytes / 4096); }

std::vector<SystemFolder> systemOfHost(const std::string& etc)
{
    std::vector<SystemFolder> system;
    for (const HostFolder& folder : hostFolders())
        system.push_back({folder.link.empty() ? folder.path : std::string(), folder.path, folder.link});
    system.push_back({etc, "/etc", {}});
    return system;
}

/// `root` is the base as this process sees it, `reachable` as bubblewrap does.
std::vector<SystemFolder> systemOfBase(const fs::path& root, const std::string& reachable)
{
    std::vector<SystemFolder> system;
    std::error_code error;
    for (const char* name : kBaseFolders) {
        const std::string target = std::string("/") + name;
        if (fs::is_symlink(root / name, error))
            system.push_back({{}, target, fs::read_symlink(root / name, error).string()});
        else if (fs::is_directory(root / name, error))
            system.push_back({reachable + target, target, {}});
    }
    return system;
}

/// What shows in a list of processes: nothing of the run. `soft` are limits that the init has to set.
std::vector<std::string> commandLine(const BoxLimits* soft)
{
    std::vector<std::string> words{"bwrap", "--args", std::to_string(kArguments), "--", "/.assay/init"};
    if (soft)
        for (std::string& word : SoftLimits::initArguments(*soft))
            words.push_back(std::move(word));
    return words;
}

std::vector<char*> pointersTo(std::vector<std::string>& words)
{
    std::vector<char*> pointers;
    for (std::string& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

Diagnosis cannotLaunch(const Error& error)
{
    if (error.detail.contains("launch pad"))
        return {"the server is root, but may not make the mounts that keep root out of a box",
                "give it CAP_SYS_ADMIN, or run it as an ordinary user"};
    if (error.detail.contains("drop the"))
        return {"the server is root and cannot become the box's unprivileged user",
                "give it CAP_SETUID and CAP_SETGID, or run it as an ordinary user"};
    return diagnose(error.detail);
}

} // namespace

Result<std::unique_ptr<Driver>> Driver::open(Options options)
{
    if (options.uid == 0 || options.gid == 0)
        return fail(ErrorCode::InvalidArgument, "the box's user and group must not be 0: a box never belongs to root");
    auto instance = instanceOf(options.dataDirectory);
    if (!instance)
        return forward(instance);
    std::unique_ptr<Driver> driver(new Driver(std::move(options)));
    driver->m_instance = std::move(*instance);
    std::error_code error;
    const fs::path folder = driver->m_options.dataDirectory / "boxes";
    fs::create_directories(folder / "empty", error);
    auto empty = openFile(folder / "empty", O_PATH | O_DIRECTORY);
    if (!empty)
        return forward(empty);
    driver->m_empty = std::move(*empty);
    auto etc = makeEtcTree(folder);
    if (!etc)
        return forward(etc);
    driver->m_etc = std::move(*etc);
    driver->prepare();
    return driver;
}

Driver::~Driver() { m_hierarchy.retire(); }

void Driver::prepare()
{
    m_root = ::geteuid() == 0;
    if (m_options.limits == LimitsBy::Kernel)
        m_hierarchy = cgroup::Hierarchy::open(m_instance);
    if (::access(m_options.initProgram.c_str(), R_OK) != 0)
        return unusable(
            {"assay-init, the first process of every box, is missing", "install assay-init beside the server"});
    const fs::path program = findProgram(m_options.bwrapProgram);
    auto opened = openFile(program, O_RDONLY);
    if (!opened || ::access(program.c_str(), X_OK) != 0)
        return unusable(missingProgram(m_options.bwrapProgram.string()));
    m_program = std::move(*opened);
    auto filter = seccomp::compileFilter(m_options.families);
    if (!filter)
        return unusable({filter.error().message, "use an x86-64 or arm64 machine with libseccomp 2.5 or newer"});
    m_filter = std::move(*filter);
    if (auto ready = prepareLauncher(); !ready)
        unusable(cannotLaunch(ready.error()));
}

Result<void> Driver::prepareLauncher()
{
    std::optional<PadSources> pad;
    if (m_root) {
        auto init = readFile(m_options.initProgram, kMaxInitBytes);
        if (!init)
            return forward(init);
        auto etc = readOnlyFolder(m_etc, m_empty.get());
        if (!etc)
            return fail(ErrorCode::Unavailable, etc.error().message, "launch pad: " + etc.error().detail);
        pad.emplace(std::move(*init), std::move(*etc));
    }
    auto launcher = Launcher::start(std::move(pad));
    if (!launcher)
        return forward(launcher);
    m_launcher = std::move(*launcher);
    return {};
}

Result<void> Driver::claim(const std::string& id)
{
    const std::scoped_lock lock(m_mutex);
    if (!m_alive.insert(id).second)
        return fail(ErrorCode::Conflict, "a box with this id is alive", id);
    return {};
}

void Driver::release(const std::string& id)
{
    const std::scoped_lock lock(m_mutex);
    m_alive.erase(id);
}

Result<std::unique_ptr<BoxHandle>> Driver::create(const BoxSpec& spec)
{
    if (m_unusable)
        return refuse("driver_unavailable", m_unusable->reason + std::string(kReasonEnd) + m_unusable->remedy);
    if (auto valid = checkSpec(spec); !valid)
        return forward(valid);
    if (auto claimed = claim(spec.id); !claimed)
        return forward(claimed);
    auto box = start(spec);
    if (!box)
        release(spec.id);
    return box;
}

Result<void> Driver::stage(const BoxSpec& spec, Launch& launch)
{
    const bool pinned = !spec.base.root.empty();
    Sources& sources = launch.sources;
    if (!m_root) {
        sources.init = m_options.initProgram.string();
        sources.system = pinned ? systemOfBase(spec.base.root, spec.base.root.string()) : systemOfHost(m_etc.string());
        for (const PinnedPackage& package : spec.packages)
            sources.packages.emplace_back(package.name, package.tree.string());
        return {};
    }
    Result<void> done;
    const auto attach = [&](Result<UniqueFd> mount, std::string target) {
        if (!mount)
            done = forward(mount);
        else
            launch.mounts.push_back({std::move(*mount), std::move(target)});
    };
    sources.init = kPadInit;
    sources.devices = kPadDev;
    sources.system = pinned ? systemOfBase(spec.base.root, kPadBase) : systemOfHost(kPadEtc);
    if (pinned)
        attach(m_folders.take(spec.base.root, m_empty.get()), kPadBase);
    for (std::size_t i = 0; done && i < spec.packages.size(); ++i) {
        attach(m_folders.take(spec.packages[i].tree, m_empty.get()), padPackage(i));
        sources.packages.emplace_back(spec.packages[i].name, padPackage(i));
    }
    const BoxLimits& limits = spec.limits;
    sources.workspace = kPadWorkspace;
    sources.tmp = kPadTmp;
    if (done)
        attach(freshTmpfs(limits.workspaceBytes + kWorkspaceSlackBytes, workspaceInodes(limits), m_options.uid,
                          m_options.gid, "0755"),
               kPadWorkspace);
    if (done)
        attach(freshTmpfs(limits.tmpBytes, kTmpInodes, m_options.uid, m_options.gid, "1777"), kPadTmp);
    return done;
}

std::unexpected<Error> Driver::refused(const Error& cause, const std::string& message) const
{
    const Diagnosis why = message.empty() ? cannotLaunch(cause) : diagnose(message);
    return refuse("driver_unavailable", why.reason + std::string(kReasonEnd) + why.remedy,
                  cause.detail + (message.empty() ? "" : ": ") + message);
}

/// Before the box exists: it starts inside of its groups.
Result<void> Driver::limit(const BoxSpec& spec, BoxParts& parts)
{
    if (m_hierarchy.version() == cgroup::Version::None)
        return {};
    auto group = m_hierarchy.create(spec.id, spec.limits, kOwnProcesses);
    if (!group)
        return forward(group);
    parts.group = std::move(*group);
    return {};
}

Result<std::unique_ptr<BoxHandle>> Driver::start(const BoxSpec& spec)
{
    const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
    Launch launch;
    auto prepared = stage(spec, launch);
    if (prepared)
        prepared = launch.openDescriptors(m_filter, bwrapOptions(spec.limits, launch.sources));
    if (!prepared)
        return forward(prepared);
    BoxParts parts;
    if (auto limited = limit(spec, parts); !limited)
        return forward(limited);
    const std::vector<int> join = parts.group ? parts.group->joinFds() : std::vector<int>();
    std::vector<StagedMount> mounts;
    for (const Launch::Mount& mount : launch.mounts)
        mounts.push_back({mount.fd.get(), mount.target.c_str()});
    const auto fd = [&](Descriptor which) { return launch.passed[which].get(); };
    const std::array passed{fd(kStdin),          fd(kStdin), launch.messages.get(), fd(kArguments), fd(kSurfaceFilter),
                            fd(kArgumentFilter), fd(kInfo),  fd(kStarted)};
    std::vector<std::string> words = commandLine(parts.group ? nullptr : &spec.limits);
    const std::vector<char*> argv = pointersTo(words);
    LaunchPlan plan{.program = m_program.get(),
                    .argv = argv.data(),
                    .passed = passed,
                    .join = join,
                    .mounts = mounts,
                    .dropIdentity = m_root,
                    .uid = m_options.uid,
                    .gid = m_options.gid};
    auto process = m_launcher->launch(plan);
    if (!process)
        return refused(process.error(), {});
    parts.outer = std::move(*process);
    for (UniqueFd& passedOn : launch.passed)
        passedOn.reset();
    if (parts.group)
        parts.group->closeJoin();
    auto init = awaitInit(launch.info.get(), launch.started.get(), parts.outer.pidfd.get(), deadline);
    if (!init) {
        endProcesses(parts.outer, parts.init, deadline + kStartPatience);
        return refused(init.error(), writtenText(launch.messages.get()));
    }
    parts.init = std::move(*init);
    parts.channel = std::move(launch.channel);
    if (!parts.group) {
        m_soft.watch(parts.init.pid, spec.limits);
        parts.soft = &m_soft;
    }
    parts.onGone = [this, id = spec.id] { release(id); };
    return std::make_unique<RunningBox>(std::move(parts));
}

DriverStatus Driver::probe()
{
    DriverStatus status;
    status.hardLimits = m_hierarchy.version() != cgroup::Version::None;
    status.limitsSource = m_hierarchy.source();
    const auto because = [&](std::string reason, std::string remedy) {
        status.reason = std::move(reason);
        status.remedy = std::move(remedy);
        return status;
    };
    if (m_unusable)
        return because(m_unusable->reason, m_unusable->remedy);
    BoxSpec spec;
    spec.id = "probe-" + toHex(randomBytes(6));
    auto box = create(spec);
    if (!box) {
        const std::string& message = box.error().message;
        const auto end = std::min(message.find(kReasonEnd), message.size());
        return because(message.substr(0, end), message.substr(std::min(end + kReasonEnd.size(), message.size())) +
                                                   " (bubblewrap said: " + box.error().detail + ")");
    }
    std::string faults;
    for (const std::string& fault : inspectBox(static_cast<RunningBox&>(**box).initPid()))
        faults += (faults.empty() ? "" : ", ") + fault;
    if (auto gone = (*box)->destroy(); !gone)
        faults += (faults.empty() ? "" : ", ") + gone.error().message;
    if (!faults.empty())
        return because("a box on this machine is not as it must be: " + faults,
                       "report this with the versions of the kernel and of bubblewrap");
    status.state = DriverState::Ready;
    return status;
}

Result<std::vector<std::string>> Driver::reap()
{
    std::vector<std::string> alive;
    {
        const std::scoped_lock lock(m_mutex);
        alive.assign(m_alive.begin(), m_alive.end());
    }
    return m_hierarchy.reap(alive);
}

} // namespace assay::sandbox::bubblewrap
