// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/anchor.h"
#include "server/contract/audit.h"

namespace assay::audit {

/// Judges one chain row by row, in the order of their numbers, and its anchors between them: the server's own and an
/// exported one are judged by the same rules. Stops at the first fault. Not synchronized.
class ChainCheck
{
public:
    /// `Filtered`: rows may be left out, so only each row by itself is judged.
    enum class Extent : std::uint8_t { Whole, Filtered };
    /// `publicKey` is whose signatures are good.
    ChainCheck(std::string fingerprint, std::string publicKey, Extent extent = Extent::Whole);

    /// False after a fault.
    bool row(const Row& row);
    /// The anchor of the row that was given last; a later one tells that rows are missing. Of a whole chain only.
    bool anchor(const Anchor& anchor);

    std::int64_t lastSeq() const { return m_seq; }
    std::uint64_t rows() const { return m_rows; }
    std::uint64_t anchors() const { return m_anchors; }
    const std::optional<contract::AuditFault>& fault() const { return m_fault; }

private:
    bool bad(std::int64_t seq, std::string reason);

    const std::string m_fingerprint;
    const std::string m_publicKey;
    const std::string m_keyId;
    const Extent m_extent;
    std::int64_t m_seq = 0;
    Digest m_hash;
    std::uint64_t m_rows = 0;
    std::uint64_t m_anchors = 0;
    std::optional<contract::AuditFault> m_fault;
};

} // namespace assay::audit
