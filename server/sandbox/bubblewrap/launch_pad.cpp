// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/launch_pad.h"

#include "server/core/file_io.h"
#include "server/sandbox/bubblewrap/arguments.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay::sandbox::bubblewrap {

namespace fs = std::filesystem;

namespace {

/// Any folder that exists everywhere will do: only this namespace sees the mount, and pivot_root then leaves it.
constexpr const char* kConstruction = "/tmp";
constexpr std::array kHostFolders{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};

/// Runs steps until one fails and remembers which.
class Steps
{
public:
    bool run(std::string_view step, bool done)
    {
        if (!done && m_error == 0) {
            m_error = errno;
            m_step = step;
        }
        return done;
    }

    bool folder(const std::string& path, mode_t mode = 0755)
    {
        return run("make " + path, ::mkdir(path.c_str(), mode) == 0 || errno == EEXIST);
    }

    bool file(const std::string& path, std::string_view bytes, mode_t mode)
    {
        const UniqueFd fd(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, mode));
        return run("make " + path, fd && writeAll(fd.get(), bytes).has_value() && ::fchmod(fd.get(), mode) == 0);
    }

    bool attach(const UniqueFd& mount, const std::string& target)
    {
        return run("attach " + target,
                   ::move_mount(mount.get(), "", AT_FDCWD, target.c_str(), MOVE_MOUNT_F_EMPTY_PATH) == 0);
    }

    bool bind(const std::string& source, const std::string& target, unsigned long extra = 0)
    {
        return run("bind " + source, ::mount(source.c_str(), target.c_str(), nullptr, MS_BIND | extra, nullptr) == 0);
    }

    bool readOnly(const std::string& target, unsigned flags)
    {
        mount_attr attributes{};
        attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID;
        return run("make " + target + " read-only",
                   ::mount_setattr(AT_FDCWD, target.c_str(), flags, &attributes, sizeof attributes) == 0);
    }

    bool withoutSetuid(const std::string& target)
    {
        mount_attr attributes{};
        attributes.attr_set = MOUNT_ATTR_NOSUID;
        return run("make " + target + " nosuid",
                   ::mount_setattr(AT_FDCWD, target.c_str(), 0, &attributes, sizeof attributes) == 0);
    }

    bool boundReadOnly(const std::string& source, const std::string& target)
    {
        return bind(source, target, MS_REC) && readOnly(target, AT_RECURSIVE);
    }

    Result<void> result() const
    {
        if (m_error == 0)
            return {};
        auto error = failErrno("launch pad: " + m_step, m_error);
        error.error().code = ErrorCode::Unavailable;
        return error;
    }

private:
    int m_error = 0;
    std::string m_step;
};

bool isolate(Steps& steps)
{
    return steps.run("unshare the mount namespace", ::unshare(CLONE_NEWNS | CLONE_FS) == 0) &&
           steps.run("make mounts private", ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
}

bool addSystem(Steps& steps, const std::string& root)
{
    for (const HostFolder& host : hostFolders()) {
        const std::string target = root + host.path;
        const bool done = host.link.empty()
                              ? steps.folder(target) && steps.boundReadOnly(host.path, target)
                              : steps.run("link " + target, ::symlink(host.link.c_str(), target.c_str()) == 0);
        if (!done)
            return false;
    }
    return steps.folder(root + "/proc") && steps.bind("/proc", root + "/proc", MS_REC) && steps.folder(root + "/tmp");
}

bool addDevices(Steps& steps, const std::string& root)
{
    bool done = steps.folder(root + "/dev");
    for (const char* device : kDevices) {
        const std::string path = std::string("/dev/") + device;
        done = done && steps.file(root + path, {}, 0644) && steps.bind(path, root + path);
    }
    return done;
}

bool addBoxDevices(Steps& steps, const std::string& folder)
{
    bool done = steps.folder(folder) &&
                steps.run("mount " + folder,
                          ::mount("dev", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=0755") == 0);
    for (const char* device : kDevices) {
        const std::string path = folder + "/" + device;
        done = done && steps.file(path, {}, 0644) && steps.bind(std::string("/dev/") + device, path) &&
               steps.withoutSetuid(path);
    }
    for (const auto& [name, target] : kDeviceLinks)
        done = done && steps.run("link " + folder, ::symlink(target, (folder + "/" + name).c_str()) == 0);
    return done && steps.folder(folder + "/shm") && steps.readOnly(folder, 0);
}

bool addStage(Steps& steps, const std::string& root, const PadSources& sources)
{
    bool done = steps.folder(root + "/stage") && steps.folder(root + "/etc") && steps.folder(root + kPadEtc) &&
                steps.file(root + kPadInit, sources.init, 0555) && steps.folder(root + kPadBase) &&
                steps.folder(root + kPadWorkspace) && steps.folder(root + kPadTmp) &&
                addBoxDevices(steps, root + kPadDev) && steps.attach(sources.etc, root + kPadEtc) &&
                steps.bind(root + kPadEtc, root + "/etc");
    for (std::size_t i = 0; done && i < kMaxPadPackages; ++i)
        done = steps.folder(root + padPackage(i));
    return done;
}

/// Only the root itself becomes read-only: a read-only /proc here would forbid a box a fresh one.
/// The old root is unmounted from below the new one, so nothing of the host stays reachable by a path.
bool pivot(Steps& steps, const std::string& root)
{
    return steps.run("enter the pad", ::chdir(root.c_str()) == 0) &&
           steps.run("pivot_root", ::syscall(SYS_pivot_root, ".", ".") == 0) &&
           steps.run("leave the old root", ::umount2(".", MNT_DETACH) == 0) &&
           steps.run("enter the pad's root", ::chdir("/") == 0) && steps.readOnly("/", 0);
}

} // namespace

std::string padPackage(std::size_t index) { return "/stage/" + std::to_string(index); }

std::vector<HostFolder> hostFolders()
{
    std::vector<HostFolder> folders;
    std::error_code ignored;
    for (const char* path : kHostFolders) {
        if (fs::is_symlink(path, ignored))
            folders.push_back({path, fs::read_symlink(path, ignored).string()});
        else if (fs::is_directory(path, ignored))
            folders.push_back({path, {}});
    }
    return folders;
}

Result<void> enterLaunchPad(const PadSources& sources)
{
    Steps steps;
    const std::string root = kConstruction;
    if (isolate(steps) &&
        steps.run("mount the pad", ::mount("pad", root.c_str(), "tmpfs", MS_NOSUID | MS_NODEV,
                                           "size=64m,nr_inodes=1k,mode=0755") == 0) &&
        addSystem(steps, root) && addDevices(steps, root) && addStage(steps, root, sources))
        pivot(steps, root);
    return steps.result();
}

} // namespace assay::sandbox::bubblewrap
