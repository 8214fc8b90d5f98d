// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/digest.h"
#include "server/runs/run_plan.h"

namespace assay::runs {

/// A run's manifest as stored: the exact bytes and their digest.
struct ManifestText
{
    std::string canonicalJson; ///< RFC 8785
    Digest digest;             ///< SHA-256 of those bytes
};

/// Writes the manifest, format `assay-manifest-v1` (docs/manifest.md). It pins everything that executes; standard
/// input, files and variables' values appear by SHA-256 only. The same plan gives the same bytes.
ManifestText writeManifest(const RunPlan& plan);

/// One package of a stored manifest.
struct ManifestSkill
{
    std::string name;
    Digest digest;
    std::vector<contract::RevisionFile> files;
};

/// Reads back the packages that a manifest pins. `Internal` when it is not of the format.
Result<std::vector<ManifestSkill>> manifestSkills(std::string_view canonicalJson);

/// What may share materialized packages (R12): scope fingerprint, agent revision, store identity and the ordered
/// digests, hashed with lengths so that no two lists read alike.
Digest materializationIdentity(const RunPlan& plan);

} // namespace assay::runs
