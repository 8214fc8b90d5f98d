// SPDX-License-Identifier: Apache-2.0
#include "server/runs/collector.h"

#include "server/core/ids.h"
#include "server/registry/media_type.h"
#include "server/runs/request_rules.h"

#include <array>

namespace assay::runs {

Result<void> Collector::keep(LiveRun& run, const sandbox::CollectedFile& file, Holds& holds)
{
    if (!isSafeRelativePath(file.path)) {
        run.addRejected({.path = file.path, .reason = "unsafe_path"});
        return {};
    }
    const auto digest = Digest::ofBytes(file.bytes);
    holds.push_back(m_artifacts.hold(run.plan().scopeFingerprint, digest));
    const std::array<std::string_view, 1> pieces{file.bytes};
    if (auto put = m_artifacts.put(run.plan().scopeFingerprint, digest, pieces); !put)
        return put;
    run.addArtifact({.id = newId("art_", m_clock.now()),
                     .run = run.plan().runId,
                     .path = file.path,
                     .sha256 = digest,
                     .sizeBytes = file.bytes.size(),
                     .mediaType = registry::mediaTypeOf(file.path, registry::fileKindOf(file.bytes)),
                     .createdAt = m_clock.now()});
    return {};
}

Result<void> Collector::collect(LiveBox& box, LiveRun& run, Holds& holds)
{
    auto refused =
        box.collect(run.plan().outputs, [&](const sandbox::CollectedFile& file) { return keep(run, file, holds); });
    if (!refused)
        return forward(refused);
    for (const auto& each : *refused)
        run.addRejected({.path = each.path, .reason = each.reason});
    return {};
}

} // namespace assay::runs
