// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/termination.h"

namespace assay::sandbox {

std::string_view terminationName(Termination termination)
{
    switch (termination) {
    case Termination::Cancelled:
        return "cancelled";
    case Termination::Timeout:
        return "timeout";
    case Termination::DiskQuotaExceeded:
        return "disk_quota_exceeded";
    case Termination::OutputCapExceeded:
        return "output_cap_exceeded";
    case Termination::MemoryExceeded:
        return "memory_exceeded";
    case Termination::PidsExceeded:
        return "pids_exceeded";
    case Termination::Signalled:
        return "signalled";
    case Termination::Exited:
        return "exited";
    case Termination::BoxLost:
        break;
    }
    return "box_lost";
}

Termination terminationOf(const EndFacts& facts)
{
    if (facts.killTookEffect && facts.killReason == KillReason::Cancelled)
        return Termination::Cancelled;
    if (facts.killTookEffect && facts.killReason == KillReason::Timeout)
        return Termination::Timeout;
    if (facts.overQuota)
        return Termination::DiskQuotaExceeded;
    if (facts.outputCapBroken)
        return Termination::OutputCapExceeded;
    if (facts.outOfMemory)
        return Termination::MemoryExceeded;
    const bool failed = facts.boxLost || facts.signal || facts.exitCode.value_or(0) != 0;
    if (facts.processesDenied && failed)
        return Termination::PidsExceeded;
    if (facts.boxLost)
        return Termination::BoxLost;
    return facts.signal ? Termination::Signalled : Termination::Exited;
}

} // namespace assay::sandbox
