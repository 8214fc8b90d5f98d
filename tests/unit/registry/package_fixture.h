// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/base64.h"
#include "server/core/file_io.h"
#include "server/core/json.h"
#include "server/registry/package.h"
#include "tests/support/test_support.h"

#include <ctime>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::test {

inline const std::string kDemoSkill = "---\nname: demo\ndescription: Shows one thing.\n---\n\n# Demo\n";

/// A package source that owns the bytes of `files`; a name in `executable` has the bit set.
inline registry::PackageSource sourceOf(const std::map<std::string, std::string>& files,
                                        const std::set<std::string>& executable = {})
{
    auto storage = std::make_shared<const std::map<std::string, std::string>>(files);
    std::vector<registry::SourceFile> list;
    for (const auto& [path, content] : *storage)
        list.push_back({path, content, executable.contains(path)});
    return {std::move(list), storage};
}

inline Result<registry::ValidPackage> validate(const std::map<std::string, std::string>& files,
                                               std::string_view name = {}, const registry::PackageLimits& limits = {})
{
    return registry::validatePackage(sourceOf(files), name, limits);
}

/// Processor time of this thread, in milliseconds: a bound on it holds on a busy machine too.
class CpuTimer
{
public:
    double elapsedMs() const { return now() - m_start; }

private:
    static double now()
    {
        timespec time{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
    }
    double m_start = now();
};

/// The codes in alphabetical order.
inline std::vector<std::string> codesOf(const std::vector<Problem>& problems)
{
    std::vector<std::string> out;
    for (const Problem& problem : problems)
        out.push_back(problem.code);
    std::ranges::sort(out);
    return out;
}

template <typename T> std::vector<std::string> codesOf(const Result<T>& result)
{
    return result ? std::vector<std::string>{"ok"} : codesOf(result.error().problems);
}

/// A problem of `code`, or an empty one.
inline Problem problemNamed(const std::vector<Problem>& problems, std::string_view code)
{
    const auto found = std::ranges::find(problems, code, &Problem::code);
    return found == problems.end() ? Problem{} : *found;
}

inline QByteArray joined(const std::vector<std::string>& words)
{
    std::string out;
    for (const std::string& word : words)
        out += (out.empty() ? "" : ", ") + word;
    return QByteArray::fromStdString(out);
}

/// One file of the shared vectors; null where this machine has none.
inline json::value vectors(const char* name)
{
    const QString directory = vectorsDirectory();
    if (directory.isEmpty())
        return {};
    const auto text = readFile((directory + '/' + name).toStdString(), 1 << 20);
    return text ? json::parse(*text) : json::value();
}

} // namespace assay::test
