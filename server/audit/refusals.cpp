// SPDX-License-Identifier: Apache-2.0
#include "server/audit/refusals.h"

#include <algorithm>

namespace assay::audit {

namespace {

std::string keyOf(const Record& record)
{
    std::string out;
    for (const std::string_view part :
         {std::string_view(record.scopeFingerprint), std::string_view(record.actor), nameOf(record.operation),
          std::string_view(record.resource), std::string_view(record.metadata.reason), std::string_view(record.run)})
        appendField(out, part);
    return out;
}

} // namespace

Refusals::~Refusals() { write(takeOld(true)); }

void Refusals::note(const Record& record)
{
    std::vector<Episode> pushedOut;
    const std::string key = keyOf(record);
    {
        const std::lock_guard lock(m_mutex);
        auto found = m_episodes.find(key);
        if (found == m_episodes.end()) {
            if (m_episodes.size() >= kMaxEpisodes) {
                const auto oldest =
                    std::ranges::min_element(m_episodes, {}, [](const auto& entry) { return entry.second.begun; });
                pushedOut.push_back(std::move(oldest->second));
                m_episodes.erase(oldest);
            }
            found = m_episodes.emplace(key, Episode{record, m_clock.steadyNow()}).first;
        }
        if (++found->second.seen > kAlone) {
            ++found->second.pending;
            return;
        }
    }
    write(std::move(pushedOut));
    if (m_ledger.record(record))
        return;
    const std::lock_guard lock(m_mutex);
    if (const auto found = m_episodes.find(key); found != m_episodes.end())
        ++found->second.pending;
}

void Refusals::endAll() { write(takeOld(true)); }

void Refusals::endOld() { write(takeOld(false)); }

std::vector<Refusals::Episode> Refusals::takeOld(bool all)
{
    const std::lock_guard lock(m_mutex);
    const auto now = m_clock.steadyNow();
    std::vector<Episode> out;
    std::erase_if(m_episodes, [&](auto& entry) {
        const bool isOver = all || now - entry.second.begun >= kEpisode;
        if (isOver)
            out.push_back(std::move(entry.second));
        return isOver;
    });
    return out;
}

void Refusals::write(std::vector<Episode> episodes)
{
    for (Episode& episode : episodes) {
        if (episode.pending == 0)
            continue;
        episode.record.occurrences = episode.pending;
        (void)m_ledger.record(episode.record); // a count that cannot be written is lost: there is nobody to tell
    }
}

} // namespace assay::audit
