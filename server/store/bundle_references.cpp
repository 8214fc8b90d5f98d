// SPDX-License-Identifier: Apache-2.0
#include "server/store/bundle_references.h"

namespace assay::store {

namespace {

// ?1 the scope, ?2 the digest, ?3 what of revisions is expired, ?4 of runs, ?5 of artifacts. A revision that is expired
// still counts while a run that is not pins the same bytes, and the second branch says so.
constexpr std::string_view kPackageIsNamed =
    "SELECT EXISTS (SELECT 1 FROM revisions r WHERE r.fingerprint = ?1 AND r.digest = ?2 AND NOT"
    " (EXISTS (SELECT 1 FROM skills s WHERE s.fingerprint = ?1 AND s.name = r.skill AND s.deleted_at < ?3)"
    " OR (coalesce(r.withdrawn_at < ?3, 0) AND NOT EXISTS (SELECT 1 FROM skills s WHERE s.fingerprint = ?1 AND s.name "
    "= r.skill"
    " AND (s.current_revision = r.id OR s.shown_revision = r.id)))))"
    " OR EXISTS (SELECT 1 FROM run_skills p JOIN runs u ON u.fingerprint = p.fingerprint AND u.id = p.run"
    " WHERE p.fingerprint = ?1 AND p.digest = ?2 AND (u.ended_at IS NULL OR u.ended_at >= ?4))";

constexpr std::string_view kArtifactIsNamed =
    "SELECT EXISTS (SELECT 1 FROM artifacts a JOIN runs u ON u.fingerprint = a.fingerprint AND u.id = a.run"
    " WHERE a.fingerprint = ?1 AND a.sha256 = ?2 AND a.created_at >= ?5"
    " AND (u.ended_at IS NULL OR u.ended_at >= ?4))";

constexpr std::string_view kNamedPackages =
    "SELECT fingerprint, digest FROM revisions WHERE (fingerprint, digest) > (?1, ?2)"
    " UNION SELECT fingerprint, digest FROM run_skills WHERE (fingerprint, digest) > (?1, ?2)"
    " ORDER BY 1, 2 LIMIT ?3";

constexpr std::string_view kNamedArtifacts =
    "SELECT DISTINCT fingerprint, sha256 FROM artifacts WHERE (fingerprint, sha256) > (?1, ?2) ORDER BY 1, 2 LIMIT ?3";

} // namespace

Result<bool> BundleReferences::has(const BundleKey& key, const Cutoffs& cutoffs)
{
    auto query = m_connection.prepare(m_kind == BundleKind::Package ? kPackageIsNamed : kArtifactIsNamed);
    if (!query)
        return forward(query);
    query->bind(key.scopeFingerprint).bindBlob(key.digest.bytes()).bind(cutoffs.revisions).bind(cutoffs.runs);
    if (m_kind == BundleKind::Artifact)
        query->bind(cutoffs.artifacts);
    const auto row = query->step();
    if (!row)
        return std::unexpected(row.error());
    return *row && query->integer(0) != 0;
}

Result<std::vector<BundleKey>> BundleReferences::list(const BundleKey* after, std::uint32_t limit)
{
    auto query = m_connection.prepare(m_kind == BundleKind::Package ? kNamedPackages : kNamedArtifacts);
    if (!query)
        return forward(query);
    query->bind(after ? std::string_view(after->scopeFingerprint) : std::string_view());
    query->bindBlob(after ? after->digest.bytes() : std::string_view()).bind(std::int64_t{limit});
    std::vector<BundleKey> out;
    for (;;) {
        const auto row = query->step();
        if (!row)
            return std::unexpected(row.error());
        if (!*row)
            return out;
        if (const auto digest = Digest::fromBytes(query->blob(1)))
            out.push_back({std::string(query->text(0)), *digest});
    }
}

} // namespace assay::store
