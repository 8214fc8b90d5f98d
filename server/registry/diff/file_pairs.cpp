// SPDX-License-Identifier: Apache-2.0
#include "server/registry/diff/file_pairs.h"

#include <algorithm>
#include <functional>
#include <map>

namespace assay::registry::diff {

namespace {

constexpr std::size_t kMaxCandidates = 400;
constexpr std::size_t kMaxCandidateBytes = 1U << 20;
constexpr std::uint64_t kMaxSteps = 4'000'000;

using Files = std::vector<const PackageFile*>;

std::string_view nameOf(const PackageFile& file)
{
    return std::string_view(file.path).substr(file.path.rfind('/') + 1);
}

/// The lines of a text as a bag: hash and size of each, sorted.
struct LineBag
{
    const PackageFile* file = nullptr;
    std::vector<std::pair<std::size_t, std::size_t>> lines;
};

LineBag bagOf(const PackageFile& file)
{
    LineBag out{&file, {}};
    for (std::string_view rest = file.content; !rest.empty();) {
        const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
        out.lines.emplace_back(std::hash<std::string_view>{}(line), line.size());
        rest.remove_prefix(line.size());
    }
    std::ranges::sort(out.lines);
    return out;
}

std::uint32_t similarity(const LineBag& one, const LineBag& other)
{
    std::size_t common = 0;
    for (std::size_t i = 0, j = 0; i < one.lines.size() && j < other.lines.size();) {
        if (one.lines[i] == other.lines[j]) {
            common += one.lines[i].second;
            ++i;
            ++j;
        } else if (one.lines[i] < other.lines[j]) {
            ++i;
        } else {
            ++j;
        }
    }
    const std::size_t larger = std::max(one.file->content.size(), other.file->content.size());
    return larger == 0 ? 0 : static_cast<std::uint32_t>(common * 100 / larger);
}

/// Finds which removed files live on under another path, and takes both off their lists.
class Renames
{
public:
    Renames(Files& removed, Files& added, std::vector<FilePair>& out) : m_removed(removed), m_added(added), m_out(out)
    {}

    void find()
    {
        findEqual();
        if (!m_removed.empty() && !m_added.empty())
            findSimilar();
    }

private:
    void findEqual()
    {
        std::multimap<std::string, const PackageFile*> byDigest;
        for (const PackageFile* file : m_removed)
            if (!file->content.empty())
                byDigest.emplace(file->sha256.hex(), file);
        for (const PackageFile*& file : m_added) {
            const auto [first, last] = byDigest.equal_range(file->sha256.hex());
            if (first == last)
                continue;
            // Of several equal ones, that of the same name; else the first.
            const auto same = std::find_if(
                first, last, [&](const auto& candidate) { return nameOf(*candidate.second) == nameOf(*file); });
            const auto chosen = same == last ? first : same;
            m_out.push_back({chosen->second, file, 100});
            std::ranges::replace(m_removed, chosen->second, nullptr);
            byDigest.erase(chosen);
            file = nullptr;
        }
        std::erase(m_removed, nullptr);
        std::erase(m_added, nullptr);
    }

    static std::vector<LineBag> candidates(const Files& files)
    {
        std::vector<LineBag> out;
        for (const PackageFile* file : files) {
            if (out.size() == kMaxCandidates)
                break;
            if (file->kind == FileKind::Text && !file->content.empty() && file->content.size() <= kMaxCandidateBytes)
                out.push_back(bagOf(*file));
        }
        return out;
    }

    static bool mayBeSimilar(const PackageFile& one, const PackageFile& other)
    {
        const std::size_t smaller = std::min(one.content.size(), other.content.size());
        const std::size_t larger = std::max(one.content.size(), other.content.size());
        return smaller * 100 >= larger * kLeastSimilarity;
    }

    void findSimilar()
    {
        const auto old = candidates(m_removed);
        const auto fresh = candidates(m_added);
        std::vector<FilePair> found;
        std::uint64_t steps = 0;
        for (const LineBag& before : old)
            for (const LineBag& after : fresh) {
                if (!mayBeSimilar(*before.file, *after.file))
                    continue;
                steps += before.lines.size() + after.lines.size();
                if (steps > kMaxSteps)
                    return take(std::move(found));
                if (const std::uint32_t like = similarity(before, after); like >= kLeastSimilarity)
                    found.push_back({before.file, after.file, std::min(like, 99U)});
            }
        take(std::move(found));
    }

    /// The most similar first; ties in the order of the paths.
    void take(std::vector<FilePair> found)
    {
        std::ranges::stable_sort(found, std::ranges::greater{}, &FilePair::similarity);
        for (const FilePair& pair : found) {
            const auto before = std::ranges::find(m_removed, pair.before);
            const auto after = std::ranges::find(m_added, pair.after);
            if (before == m_removed.end() || after == m_added.end())
                continue;
            m_out.push_back(pair);
            m_removed.erase(before);
            m_added.erase(after);
        }
    }

    Files& m_removed;
    Files& m_added;
    std::vector<FilePair>& m_out;
};

bool isChanged(const PackageFile& before, const PackageFile& after)
{
    return before.sha256 != after.sha256 || before.executable != after.executable;
}

} // namespace

std::vector<FilePair> pairFiles(std::span<const PackageFile> before, std::span<const PackageFile> after)
{
    std::vector<FilePair> out;
    Files removed;
    Files added;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < before.size() || j < after.size()) {
        if (j == after.size() || (i < before.size() && before[i].path < after[j].path)) {
            removed.push_back(&before[i++]);
        } else if (i == before.size() || after[j].path < before[i].path) {
            added.push_back(&after[j++]);
        } else {
            if (isChanged(before[i], after[j]))
                out.push_back({&before[i], &after[j]});
            ++i;
            ++j;
        }
    }
    Renames(removed, added, out).find();
    for (const PackageFile* file : removed)
        out.push_back({file, nullptr});
    for (const PackageFile* file : added)
        out.push_back({nullptr, file});
    std::ranges::stable_sort(out, {}, [](const FilePair& pair) -> const std::string& { return pair.path(); });
    return out;
}

} // namespace assay::registry::diff
