// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/results.h"

#include "server/sandbox/result_path.h"

#include <algorithm>

namespace assay::sandbox {

using channel::EntryKind;

namespace {

constexpr std::size_t kMaxRefused = 1000;

} // namespace

ResultSelection::ResultSelection(std::vector<Glob> globs, const CollectLimits& limits)
    : m_globs(std::move(globs)), m_limits(limits)
{}

void ResultSelection::refuse(std::string_view path, std::string_view reason)
{
    if (m_refused.size() < kMaxRefused)
        m_refused.push_back({printablePath(path), std::string(reason)});
    else if (m_refused.size() == kMaxRefused)
        m_refused.push_back({{}, "too_many_files"});
}

bool ResultSelection::matches(std::string_view path) const
{
    return std::ranges::any_of(m_globs, [path](const Glob& glob) { return glob.matches(path); });
}

void ResultSelection::judge(const TreeListing& listing)
{
    if (!listing.isThere)
        return;
    if (!listing.isFolder)
        refuse(".", "not_a_regular_file");
    for (const TreeEntry& entry : listing.entries)
        judgeEntry(entry);
    if (listing.truncated)
        refuse("", "too_many_files");
}

void ResultSelection::judgeEntry(const TreeEntry& entry)
{
    // What a folder that cannot be entered holds is unknown, so it is told whatever the patterns are.
    if (entry.kind == EntryKind::Unreadable || entry.kind == EntryKind::TooDeep)
        return refuse(entry.path, entry.kind == EntryKind::TooDeep ? "unsafe_path" : "unreadable");
    if (entry.kind == EntryKind::Directory || !matches(entry.path))
        return;
    if (entry.kind != EntryKind::File)
        return refuse(entry.path, "not_a_regular_file");
    if (!isSafeResultPath(entry.path))
        return refuse(entry.path, "unsafe_path");
    if (entry.sizeBytes > m_limits.fileBytes)
        return refuse(entry.path, "too_large");
    if (m_wanted.size() >= m_limits.files)
        return refuse(entry.path, "too_many_files");
    if (entry.sizeBytes > m_limits.totalBytes - m_totalBytes)
        return refuse(entry.path, "total_too_large");
    m_totalBytes += entry.sizeBytes;
    m_wanted.push_back(entry);
}

} // namespace assay::sandbox
