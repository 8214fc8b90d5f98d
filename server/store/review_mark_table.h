// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/connection.h"

#include <vector>

namespace assay::store {

/// A file that somebody has seen. `content` names what was seen, in the registry's own form.
struct ViewedRow
{
    std::string path;
    std::string content;
    Timestamp viewedAt;
};

/// What one person has looked at: the SQL of `viewed_files` and `capability_acknowledgements`, one exact scope and
/// skill at a time, so that a mark goes on from one proposal to the next. Confined to its connection.
class ReviewMarkTable
{
public:
    explicit ReviewMarkTable(Connection& connection) : m_connection(connection) {}

    /// Keeps the newest `kMaxViewed` marks of the person.
    Result<void> putViewed(std::string_view fingerprint, std::string_view skill, std::string_view principal,
                           const ViewedRow& row);
    Result<void> removeViewed(std::string_view fingerprint, std::string_view skill, std::string_view principal,
                              std::string_view path);
    Result<std::vector<ViewedRow>> viewed(std::string_view fingerprint, std::string_view skill,
                                          std::string_view principal);

    /// That `digest` was compared with `base`, or with nothing.
    Result<void> acknowledge(std::string_view fingerprint, std::string_view skill, const Digest& digest,
                             const std::optional<Digest>& base, std::string_view principal, Timestamp now);
    /// Who did, oldest first.
    Result<std::vector<std::string>> acknowledgedBy(std::string_view fingerprint, std::string_view skill,
                                                    const Digest& digest, const std::optional<Digest>& base);

    static constexpr std::int64_t kMaxViewed = 4000;

private:
    Connection& m_connection;
};

} // namespace assay::store
