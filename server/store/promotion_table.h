// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/connection.h"

#include <vector>

namespace assay::store {

/// One move of a skill's current pointer. Numbers and digest are kept here, for history outlives what it tells of.
struct PromotionRow
{
    std::uint64_t sequence = 0; ///< the version that the skill's row got with it: grows, with gaps
    Timestamp at;
    std::string actor;
    std::string via; ///< "publish", "promote", "rollback", "withdraw", "stop" or "delete"
    std::string fromRevision;
    std::uint64_t fromNumber = 0;
    std::string toRevision; ///< empty: none is current from then on
    std::uint64_t toNumber = 0;
    std::optional<Digest> toDigest;
    std::string reason;
};

/// The SQL of the table `promotions`, one exact scope and skill at a time. Rows are only added. Confined to its
/// connection.
class PromotionTable
{
public:
    explicit PromotionTable(Connection& connection) : m_connection(connection) {}

    Result<void> insert(std::string_view fingerprint, std::string_view skill, const PromotionRow& row);
    /// Newest first, those below `beforeSequence` (0: from the newest), at most `limit`.
    Result<std::vector<PromotionRow>> list(std::string_view fingerprint, std::string_view skill,
                                           std::uint64_t beforeSequence, std::uint32_t limit);
    /// The last move at or before `time`.
    Result<std::optional<PromotionRow>> at(std::string_view fingerprint, std::string_view skill, Timestamp time);

private:
    Connection& m_connection;
};

} // namespace assay::store
