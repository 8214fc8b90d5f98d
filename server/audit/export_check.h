// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/chain_check.h"

#include <istream>

namespace assay::audit {

struct ExportVerdict
{
    contract::AuditVerdict verdict;
    bool complete = false;        ///< a whole chain, not what a filter left
    std::int64_t anchoredSeq = 0; ///< the last row that an anchor covers; later ones nobody has signed yet
    std::int64_t lastSeq = 0;

    /// Nothing was left out and a signature stands for it, up to `anchoredSeq`. Without this a file can be valid and
    /// yet be what somebody made who has no key: rows cut out, hashes made anew.
    bool isProof() const { return verdict.valid && complete && anchoredSeq > 0; }
};

/// Judges an exported chain (JSON lines), without a server and line by line. `publicKey` is whose anchors are good;
/// empty takes the key that the export names, which proves no more than that one hand wrote it. `InvalidArgument` names
/// the line that is not one of an export.
Result<ExportVerdict> checkExport(std::istream& lines, std::string publicKey);

} // namespace assay::audit
