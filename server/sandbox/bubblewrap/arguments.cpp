// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/arguments.h"

#include "server/sandbox/bubblewrap/options.h"

namespace assay::sandbox::bubblewrap {

namespace {

class OptionList
{
public:
    template <typename... Words> void add(const Words&... words) { (append(words), ...); }
    std::string take() { return std::move(m_text); }

private:
    void append(std::string_view word)
    {
        m_text += word;
        m_text += '\0';
    }
    std::string m_text;
};

void addIsolation(OptionList& options)
{
    options.add("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
                "--unshare-cgroup", "--disable-userns");
    options.add("--uid", std::to_string(kBoxUser), "--gid", std::to_string(kBoxUser), "--hostname", "box");
    options.add("--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv");
    for (const auto& [name, value] : boxEnvironment())
        options.add("--setenv", name, value);
    options.add("--add-seccomp-fd", std::to_string(kSurfaceFilter), "--add-seccomp-fd", std::to_string(kArgumentFilter),
                "--info-fd", std::to_string(kInfo));
}

void addSystem(OptionList& options, const Sources& sources)
{
    for (const SystemFolder& folder : sources.system)
        if (folder.link.empty())
            options.add("--ro-bind", folder.source, folder.target);
        else
            options.add("--symlink", folder.link, folder.target);
    // Bound from outside: the box's own /proc/sys is not a mount point that could be made read-only.
    options.add("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys");
}

void addDevices(OptionList& options, const std::string& source)
{
    if (!source.empty())
        return options.add("--dev-bind", source, "/dev");
    options.add("--perms", "0755", "--size", "65536", "--tmpfs", "/dev");
    for (const std::string device : kDevices)
        options.add("--dev-bind", "/dev/" + device, "/dev/" + device);
    for (const auto& [name, target] : kDeviceLinks)
        options.add("--symlink", target, std::string("/dev/") + name);
    options.add("--dir", "/dev/shm", "--remount-ro", "/dev");
}

void addWritable(OptionList& options, const std::string& source, std::string_view target, std::uint64_t bytes,
                 std::string_view mode)
{
    if (source.empty())
        options.add("--perms", mode, "--size", std::to_string(bytes), "--tmpfs", target);
    else
        options.add("--bind", source, target);
}

} // namespace

std::vector<std::pair<std::string_view, std::string_view>> boxEnvironment()
{
    return {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
            {"HOME", "/workspace"},
            {"USER", "box"},
            {"LOGNAME", "box"},
            {"LANG", "C.UTF-8"},
            {"TMPDIR", "/tmp"},
            {"SHELL", "/bin/bash"},
            {"TZ", "UTC"}};
}

std::string bwrapOptions(const BoxLimits& limits, const Sources& sources)
{
    OptionList options;
    addIsolation(options);
    addSystem(options, sources);
    addDevices(options, sources.devices);
    options.add("--dir", "/skills");
    for (const auto& [name, folder] : sources.packages)
        options.add("--ro-bind", folder, "/skills/" + name);
    addWritable(options, sources.tmp, "/tmp", limits.tmpBytes, "1777");
    addWritable(options, sources.workspace, "/workspace", limits.workspaceBytes + kWorkspaceSlackBytes, "0755");
    options.add("--perms", "0755", "--dir", "/workspace/out");
    options.add("--ro-bind", sources.init, "/.assay/init");
    options.add("--remount-ro", "/", "--chdir", "/workspace");
    return options.take();
}

} // namespace assay::sandbox::bubblewrap
