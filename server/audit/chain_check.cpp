// SPDX-License-Identifier: Apache-2.0
#include "server/audit/chain_check.h"

namespace assay::audit {

ChainCheck::ChainCheck(std::string fingerprint, std::string publicKey, Extent extent)
    : m_fingerprint(std::move(fingerprint)),
      m_publicKey(std::move(publicKey)),
      m_keyId(keyIdOf(m_publicKey)),
      m_extent(extent),
      m_hash(genesisOf(m_fingerprint))
{}

bool ChainCheck::bad(std::int64_t seq, std::string reason)
{
    m_fault = contract::AuditFault{m_fingerprint, seq, std::move(reason)};
    return false;
}

bool ChainCheck::row(const Row& row)
{
    if (m_fault)
        return false;
    const bool follows = row.seq == m_seq + 1;
    if (row.seq <= m_seq)
        return bad(row.seq, "broken_link");
    if (!follows && m_extent == Extent::Whole)
        return bad(m_seq + 1, "missing");
    if (row.fingerprint != m_fingerprint || hashOf(row) != row.hash)
        return bad(row.seq, "changed");
    if (follows && row.previous != m_hash)
        return bad(row.seq, "broken_link");
    m_seq = row.seq;
    m_hash = row.hash;
    ++m_rows;
    return true;
}

bool ChainCheck::anchor(const Anchor& anchor)
{
    if (m_fault)
        return false;
    if (anchor.fingerprint != m_fingerprint || anchor.keyId != m_keyId ||
        !isSignedBy(m_publicKey, anchorMessage(anchor), anchor.signature))
        return bad(anchor.seq, "anchor_forged");
    if (anchor.seq > m_seq && m_extent == Extent::Whole)
        return bad(m_seq + 1, "missing");
    if (anchor.seq != m_seq || anchor.rowHash != m_hash)
        return bad(anchor.seq, "anchor_mismatch");
    ++m_anchors;
    return true;
}

} // namespace assay::audit
