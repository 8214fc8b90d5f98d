// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/inspection.h"

#include "server/core/file_io.h"
#include "server/sandbox/bubblewrap/options.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <unistd.h>

namespace assay::sandbox::bubblewrap {

namespace {

constexpr std::uint64_t kMaxProcFile = 1U << 20;

std::vector<std::string_view> split(std::string_view text, char separator)
{
    std::vector<std::string_view> parts;
    for (const auto part : std::views::split(text, separator))
        parts.emplace_back(part.begin(), part.end());
    return parts;
}

std::string linkText(const std::string& path)
{
    std::array<char, 256> text;
    const ssize_t size = ::readlink(path.c_str(), text.data(), text.size());
    return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

std::string field(const std::string& status, std::string_view name)
{
    for (const std::string_view line : split(status, '\n'))
        if (line.starts_with(name)) {
            auto value = line.substr(name.size());
            value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
            return std::string(value);
        }
    return {};
}

void checkNamespaces(const std::string& process, std::vector<std::string>& faults)
{
    for (const char* name : {"user", "pid", "net", "ipc", "uts", "mnt", "cgroup"}) {
        const std::string its = linkText(process + "/ns/" + name);
        if (its.empty() || its == linkText(std::string("/proc/self/ns/") + name))
            faults.push_back(std::string("no ") + name + " namespace of its own");
    }
}

void checkIdentity(const std::string& process, std::vector<std::string>& faults)
{
    const auto status = readFile(process + "/status", kMaxProcFile).value_or("");
    const std::string uid = field(status, "Uid:");
    if (uid.empty() || uid.starts_with("0\t"))
        faults.push_back("its user is the machine's root");
    for (const char* set : {"CapEff:", "CapPrm:", "CapInh:", "CapBnd:", "CapAmb:"})
        if (field(status, set) != "0000000000000000")
            faults.push_back(std::string("capabilities are left in ") + set);
    if (field(status, "NoNewPrivs:") != "1")
        faults.push_back("no_new_privs is not set");
    if (field(status, "Seccomp:") != "2")
        faults.push_back("no system call filter is in force");
    const auto map = readFile(process + "/uid_map", kMaxProcFile).value_or("");
    const auto words = map.substr(std::min(map.find_first_not_of(' '), map.size()));
    if (!words.starts_with(std::to_string(kBoxUser) + " ") || std::ranges::count(map, '\n') != 1)
        faults.push_back("its user is not " + std::to_string(kBoxUser) + " alone");
}

void checkNetwork(const std::string& process, std::vector<std::string>& faults)
{
    const auto devices = readFile(process + "/net/dev", kMaxProcFile).value_or("");
    std::size_t interfaces = 0;
    for (const std::string_view line : split(devices, '\n'))
        if (line.contains(':')) {
            ++interfaces;
            if (!line.contains("lo:"))
                faults.push_back("it has the network interface " + std::string(line.substr(0, line.find(':'))));
        }
    if (interfaces == 0)
        faults.push_back("its network interfaces cannot be read");
}

} // namespace

std::vector<std::string> unexpectedWritableMounts(std::string_view mountinfo)
{
    constexpr std::array<std::string_view, 3> expected{"/workspace", "/tmp", "/proc"};
    std::vector<std::string> found;
    for (const std::string_view line : split(mountinfo, '\n')) {
        const auto fields = split(line, ' ');
        if (fields.size() < 6 || fields[5].starts_with("ro"))
            continue;
        // A device node is bound alone; writing to the device is its purpose and nothing can be made beside it.
        if (!std::ranges::contains(expected, fields[4]) && !fields[4].starts_with("/dev/"))
            found.emplace_back(fields[4]);
    }
    return found;
}

std::vector<std::string> inspectBox(int initPid)
{
    const std::string process = "/proc/" + std::to_string(initPid);
    std::vector<std::string> faults;
    checkNamespaces(process, faults);
    checkIdentity(process, faults);
    checkNetwork(process, faults);
    const auto mounts = readFile(process + "/mountinfo", kMaxProcFile);
    if (!mounts)
        faults.push_back("its mounts cannot be read");
    else
        for (const std::string& mount : unexpectedWritableMounts(*mounts))
            faults.push_back("it can write to " + mount);
    return faults;
}

} // namespace assay::sandbox::bubblewrap
