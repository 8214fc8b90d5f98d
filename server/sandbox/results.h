// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/box.h"
#include "server/sandbox/glob.h"
#include "server/sandbox/tree_listing.h"

namespace assay::sandbox {

/// Decides which names below /workspace/out are results, before a byte of them is read. At most 1,000 refusals are
/// listed; one entry without a path then says that there were more.
class ResultSelection
{
public:
    ResultSelection(std::vector<Glob> globs, const CollectLimits& limits);

    /// Judges a listing. `wanted` afterwards holds the files to read, in path order.
    void judge(const TreeListing& listing);
    const std::vector<TreeEntry>& wanted() const { return m_wanted; }

    void refuse(std::string_view path, std::string_view reason);
    std::vector<RefusedOutput> takeRefused() { return std::move(m_refused); }

private:
    void judgeEntry(const TreeEntry& entry);
    bool matches(std::string_view path) const;

    std::vector<Glob> m_globs;
    CollectLimits m_limits;
    std::uint64_t m_totalBytes = 0;
    std::vector<TreeEntry> m_wanted;
    std::vector<RefusedOutput> m_refused;
};

} // namespace assay::sandbox
