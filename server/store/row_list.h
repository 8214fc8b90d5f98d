// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/connection.h"

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace assay::store {

/// What `read` makes of each row of `query`, to the end. The query bounds their number.
template <typename Read>
Result<std::vector<std::invoke_result_t<Read&, const Statement&>>> readRows(Statement& query, Read read)
{
    std::vector<std::invoke_result_t<Read&, const Statement&>> out;
    for (;;) {
        const auto row = query.step();
        if (!row)
            return std::unexpected(row.error());
        if (!*row)
            return out;
        out.push_back(read(query));
    }
}

/// A page of a list whose first column is its order: at most `limit` rows that are `wanted`, found among `maxScanned`
/// rows; `Listed::more` is then the first column of the last row that was looked at.
template <typename Listed, typename Wanted, typename Read>
Result<Listed> readPage(Statement& query, std::uint32_t limit, std::uint32_t maxScanned, Wanted wanted, Read read)
{
    Listed out;
    std::string last;
    for (std::uint32_t scanned = 0;; ++scanned) {
        const auto row = query.step();
        if (!row)
            return std::unexpected(row.error());
        if (!*row)
            return out;
        if (out.rows.size() == limit || scanned == maxScanned) {
            out.more = std::move(last);
            return out;
        }
        last = query.text(0);
        if (wanted(query))
            out.rows.push_back(read(query));
    }
}

} // namespace assay::store
