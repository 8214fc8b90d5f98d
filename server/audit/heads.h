// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/anchor.h"

#include <map>
#include <memory>
#include <mutex>
#include <span>

namespace assay::audit {

/// The newest anchors, remembered in a file outside the database: whoever edits only the database cannot take out the
/// newest anchors unseen. May be behind the database (a server killed after the commit), never ahead. Thread-safe.
class Heads
{
public:
    struct Head
    {
        std::int64_t seq = 0;
        Digest hash;
    };
    struct Known
    {
        std::int64_t number = 0; ///< of the newest anchor of all chains; 0: nothing is known yet
        Digest link;
        std::map<std::string, Head, std::less<>> chains;
    };

    /// Reads the file (mode 0600); without one nothing is known. `Unavailable` when it is not such a file.
    static Result<std::unique_ptr<Heads>> open(const std::filesystem::path& file);

    Known known() const;
    /// After their commit. Writes the file durably; what could not be written is written with the next ones.
    Result<void> learn(std::span<const Anchor> anchors);

    /// What is wrong with the database's ledger, for people; empty while nothing is known to be.
    void doubt(std::string why);
    std::string doubts() const;

private:
    Heads(std::filesystem::path file, Known known) : m_file(std::move(file)), m_known(std::move(known)) {}

    const std::filesystem::path m_file;
    mutable std::mutex m_mutex;
    Known m_known;
    bool m_isWritten = true;
    std::string m_doubts;
};

} // namespace assay::audit
