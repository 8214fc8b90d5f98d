// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/row.h"
#include "server/audit/signing_key.h"
#include "server/store/connection.h"

#include <vector>

namespace assay::audit {

/// The newest row of a chain at some moment, signed by the server: what no edit of the database can make again. All
/// anchors of the server are one more chain (`number`, `link`), so that one which is taken out is missed.
struct Anchor
{
    std::string fingerprint;
    std::int64_t seq = 0;
    Timestamp at;
    Digest rowHash;
    std::string keyId;
    std::string signature;

    std::int64_t number = 0; ///< 1, 2, 3 ... over all chains; operators only
    Digest link;
    std::string linkSignature;
};

/// What `signature` signs, and what `link` is (docs/ledger.md, "Anchors"). Pure.
std::string anchorMessage(const Anchor& anchor);
Digest linkOf(const Digest& previous, const Anchor& anchor);
std::string linkMessage(const Digest& link);

/// The SQL of the table `ledger_anchors`. Confined to its connection.
class AnchorTable
{
public:
    explicit AnchorTable(store::Connection& connection) : m_connection(connection) {}

    Result<void> insert(const Anchor& anchor);
    /// Of all chains; of one.
    Result<std::optional<Anchor>> newest();
    Result<std::optional<Anchor>> newestOf(std::string_view fingerprint);
    /// Of one chain, with row numbers above `seq` up to `last`, in that order.
    Result<std::vector<Anchor>> between(std::string_view fingerprint, std::int64_t seq, std::int64_t last,
                                        std::uint32_t limit);
    /// Of all chains, with numbers above `number`.
    Result<std::vector<Anchor>> after(std::int64_t number, std::uint32_t limit);

private:
    Result<std::vector<Anchor>> all(store::Statement& query);
    store::Connection& m_connection;
};

} // namespace assay::audit
