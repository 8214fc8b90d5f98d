// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/ledger.h"

#include <map>
#include <mutex>

namespace assay::audit {

/// Writes refusals that nobody else records, without letting a caller who tries again and again fill the disk: of those
/// alike (scope, actor, operation, resource, reason) the first `kAlone` of an episode are rows of their own, the others
/// are counted and become one row when the episode ends, `kEpisode` after its first. Thread-safe; `note` blocks for a
/// commit at most.
class Refusals
{
public:
    static constexpr std::uint32_t kAlone = 3;
    static constexpr std::chrono::seconds kEpisode{60};
    static constexpr std::size_t kMaxEpisodes = 256; ///< more end the oldest

    Refusals(Ledger& ledger, const Clock& clock) : m_ledger(ledger), m_clock(clock) {}
    /// Writes the counts that are left.
    ~Refusals();
    Refusals(const Refusals&) = delete;
    Refusals& operator=(const Refusals&) = delete;

    /// A row that cannot be written is counted and tried again at the end of its episode.
    void note(const Record& record);
    /// Writes the counts of episodes that are over; to be called now and then.
    void endOld();
    /// Writes all counts; before the last anchors are signed.
    void endAll();

private:
    struct Episode
    {
        Record record;
        std::chrono::steady_clock::time_point begun;
        std::uint32_t seen = 0;
        std::uint64_t pending = 0;
    };
    std::vector<Episode> takeOld(bool all);
    void write(std::vector<Episode> episodes);

    Ledger& m_ledger;
    const Clock& m_clock;
    std::mutex m_mutex;
    std::map<std::string, Episode> m_episodes;
};

} // namespace assay::audit
