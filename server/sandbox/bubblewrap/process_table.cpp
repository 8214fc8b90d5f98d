// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/process_table.h"

#include "server/core/file_io.h"

#include <charconv>
#include <filesystem>
#include <unistd.h>

namespace assay::sandbox::bubblewrap {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMaxProcFile = 8192;
constexpr std::size_t kMaxDescendants = 100'000;

std::vector<std::int64_t> numbers(std::string_view text)
{
    std::vector<std::int64_t> found;
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of(" \n"), text.size());
        std::int64_t value = 0;
        const auto word = text.substr(0, end);
        std::from_chars(word.data(), word.data() + word.size(), value);
        if (!word.empty())
            found.push_back(value);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return found;
}

std::uint64_t privateBytes(const fs::path& process)
{
    const auto text = readFile(process / "statm", kMaxProcFile);
    const auto pages = text ? numbers(*text) : std::vector<std::int64_t>();
    if (pages.size() < 3 || pages[1] <= pages[2])
        return 0;
    return static_cast<std::uint64_t>(pages[1] - pages[2]) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace

std::optional<ProcessSample> parseStat(std::string_view text)
{
    const auto open = text.find(" (");
    const auto close = text.rfind(") ");
    if (open == std::string_view::npos || close == std::string_view::npos || close < open || text.size() < close + 4)
        return std::nullopt;
    ProcessSample sample;
    std::from_chars(text.data(), text.data() + open, sample.pid);
    // After the name and the state letter: 1 is the parent, 11 to 14 are the four times.
    const auto fields = numbers(text.substr(close + 4));
    if (sample.pid <= 0 || fields.size() < 14)
        return std::nullopt;
    sample.parent = static_cast<int>(fields[0]);
    const std::int64_t ticks = fields[10] + fields[11] + fields[12] + fields[13];
    sample.cpu = std::chrono::microseconds(ticks * 1'000'000 / ::sysconf(_SC_CLK_TCK));
    return sample;
}

std::multimap<int, ProcessSample> readProcesses()
{
    std::multimap<int, ProcessSample> byParent;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc", error)) {
        const std::string name = entry.path().filename().string();
        if (name.front() < '1' || name.front() > '9')
            continue;
        const auto text = readFile(entry.path() / "stat", kMaxProcFile);
        auto sample = text ? parseStat(*text) : std::nullopt;
        if (!sample)
            continue;
        sample->privateBytes = privateBytes(entry.path());
        byParent.emplace(sample->parent, *sample);
    }
    return byParent;
}

std::vector<ProcessSample> descendantsOf(int root, const std::multimap<int, ProcessSample>& byParent)
{
    std::vector<ProcessSample> found;
    std::vector<int> parents{root};
    while (!parents.empty() && found.size() < kMaxDescendants) {
        const int parent = parents.back();
        parents.pop_back();
        const auto [first, last] = byParent.equal_range(parent);
        for (auto child = first; child != last; ++child) {
            found.push_back(child->second);
            parents.push_back(child->second.pid);
        }
    }
    return found;
}

} // namespace assay::sandbox::bubblewrap
