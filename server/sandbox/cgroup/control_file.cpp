// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/cgroup/control_file.h"

#include "server/core/file_io.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <span>
#include <thread>
#include <unistd.h>

namespace assay::sandbox::cgroup {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMaxControlBytes = 4U << 20;
constexpr std::size_t kCounterBytes = 4096;

std::optional<std::uint64_t> parse(std::string_view text)
{
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
        text.remove_suffix(1);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return value;
}

template <typename Visit> void eachLine(std::string_view text, Visit visit)
{
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        visit(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

std::optional<std::uint64_t> findKey(std::string_view text, std::string_view key)
{
    std::optional<std::uint64_t> found;
    eachLine(text, [&](std::string_view line) {
        if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ')
            found = parse(line.substr(key.size() + 1));
    });
    return found;
}

/// `buffer` holds what it returns.
std::string_view readAgain(int file, std::span<char> buffer)
{
    const ssize_t got = file < 0 ? -1 : ::pread(file, buffer.data(), buffer.size(), 0);
    return got > 0 ? std::string_view(buffer.data(), static_cast<std::size_t>(got)) : std::string_view();
}

} // namespace

Result<void> writeControl(const fs::path& file, std::string_view value)
{
    auto fd = openFile(file, O_WRONLY);
    if (!fd)
        return forward(fd);
    if (::write(fd->get(), value.data(), value.size()) != static_cast<ssize_t>(value.size()))
        return failErrno("write " + std::string(value) + " to " + file.string(), errno);
    return {};
}

std::optional<std::uint64_t> readNumber(const fs::path& file)
{
    const auto text = readFile(file, kMaxControlBytes);
    return text ? parse(*text) : std::nullopt;
}

std::optional<std::uint64_t> readKeyed(const fs::path& file, std::string_view key)
{
    const auto text = readFile(file, kMaxControlBytes);
    return text ? findKey(*text, key) : std::nullopt;
}

std::optional<std::uint64_t> readNumber(int file)
{
    std::array<char, kCounterBytes> buffer;
    return parse(readAgain(file, buffer));
}

std::optional<std::uint64_t> readKeyed(int file, std::string_view key)
{
    std::array<char, kCounterBytes> buffer;
    return findKey(readAgain(file, buffer), key);
}

std::vector<int> processesIn(const fs::path& group)
{
    std::vector<int> found;
    if (const auto text = readFile(group / "cgroup.procs", kMaxControlBytes))
        eachLine(*text, [&](std::string_view line) {
            // 0 stands for a process of another process id namespace; it must not become kill(0).
            if (const auto pid = parse(line); pid && *pid > 1 && *pid <= 0x7fff'ffffU)
                found.push_back(static_cast<int>(*pid));
        });
    return found;
}

bool removeGroup(const fs::path& group, std::chrono::steady_clock::time_point deadline)
{
    for (auto pause = std::chrono::microseconds(50);; pause = std::min(pause * 2, std::chrono::microseconds(20'000))) {
        if (::rmdir(group.c_str()) == 0 || errno == ENOENT)
            return true;
        for (const int pid : processesIn(group))
            ::kill(pid, SIGKILL);
        if (std::chrono::steady_clock::now() >= deadline)
            return false;
        std::this_thread::sleep_for(pause);
    }
}

} // namespace assay::sandbox::cgroup
