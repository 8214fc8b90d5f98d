// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay::store {

/// The migration that brings proposals, their comments, reviews and marks, the history of promotions, saved sample
/// inputs with the runs made of them, and the operator's stops (docs/storage.md, "Tables"). Released: it never changes.
/// History before it is not known; it begins with what is current now.
inline constexpr const char* kReviewSchema = R"sql(
CREATE TABLE proposals (
    fingerprint TEXT NOT NULL,
    id TEXT NOT NULL,
    skill TEXT NOT NULL,
    revision TEXT NOT NULL,
    number INTEGER NOT NULL,
    digest BLOB NOT NULL,
    publisher TEXT NOT NULL,
    base_revision TEXT NOT NULL,
    base_number INTEGER NOT NULL,
    base_digest BLOB NOT NULL,
    state TEXT NOT NULL,
    version INTEGER NOT NULL,
    approvals INTEGER NOT NULL,
    change_requests INTEGER NOT NULL,
    comments INTEGER NOT NULL,
    unresolved INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    closed_at INTEGER,
    closed_by TEXT NOT NULL,
    reason TEXT NOT NULL,
    superseded_by TEXT NOT NULL,
    note TEXT NOT NULL,
    description TEXT NOT NULL,
    PRIMARY KEY (fingerprint, id),
    UNIQUE (fingerprint, skill, number),
    FOREIGN KEY (fingerprint, skill) REFERENCES skills (fingerprint, name)
) STRICT;
CREATE UNIQUE INDEX proposals_open ON proposals (fingerprint, skill) WHERE state = 'open';

CREATE TABLE proposal_reviews (
    fingerprint TEXT NOT NULL,
    proposal TEXT NOT NULL,
    id TEXT NOT NULL,
    author TEXT NOT NULL,
    verdict TEXT NOT NULL,
    digest BLOB NOT NULL,
    comments INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    withdrawn_at INTEGER,
    PRIMARY KEY (fingerprint, proposal, id),
    FOREIGN KEY (fingerprint, proposal) REFERENCES proposals (fingerprint, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE proposal_comments (
    fingerprint TEXT NOT NULL,
    proposal TEXT NOT NULL,
    id TEXT NOT NULL,
    author TEXT NOT NULL,
    draft INTEGER NOT NULL,
    review TEXT NOT NULL,
    path TEXT NOT NULL,
    side TEXT NOT NULL,
    line INTEGER,
    file_sha256 TEXT NOT NULL,
    in_reply_to TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    resolved_at INTEGER,
    resolved_by TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (fingerprint, proposal, id),
    FOREIGN KEY (fingerprint, proposal) REFERENCES proposals (fingerprint, id)
) STRICT;

CREATE TABLE viewed_files (
    fingerprint TEXT NOT NULL,
    skill TEXT NOT NULL,
    principal TEXT NOT NULL,
    path TEXT NOT NULL,
    content TEXT NOT NULL,
    viewed_at INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, skill, principal, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE capability_acknowledgements (
    fingerprint TEXT NOT NULL,
    skill TEXT NOT NULL,
    digest BLOB NOT NULL,
    base_digest BLOB NOT NULL,
    principal TEXT NOT NULL,
    acknowledged_at INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, skill, digest, base_digest, principal)
) STRICT, WITHOUT ROWID;

CREATE TABLE promotions (
    fingerprint TEXT NOT NULL,
    skill TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    via TEXT NOT NULL,
    from_revision TEXT NOT NULL,
    from_number INTEGER NOT NULL,
    to_revision TEXT NOT NULL,
    to_number INTEGER NOT NULL,
    to_digest BLOB NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (fingerprint, skill, sequence)
) STRICT, WITHOUT ROWID;
INSERT INTO promotions
    SELECT s.fingerprint, s.name, s.version, coalesce(r.promoted_at, r.created_at), r.publisher, 'publish', '', 0, r.id, r.number,
           r.digest, ''
    FROM skills s JOIN revisions r ON r.fingerprint = s.fingerprint AND r.id = s.current_revision
    WHERE s.deleted_at IS NULL;

CREATE TABLE skill_samples (
    fingerprint TEXT NOT NULL,
    skill TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    author TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (fingerprint, skill, name)
) STRICT;

CREATE TABLE sample_runs (
    fingerprint TEXT NOT NULL,
    skill TEXT NOT NULL,
    digest BLOB NOT NULL,
    sample TEXT NOT NULL,
    run TEXT NOT NULL,
    sample_version INTEGER NOT NULL,
    started_by TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, skill, digest, sample, run)
) STRICT, WITHOUT ROWID;

CREATE TABLE comparisons (
    fingerprint TEXT NOT NULL,
    id TEXT NOT NULL,
    skill TEXT NOT NULL,
    sample TEXT NOT NULL,
    from_revision TEXT NOT NULL,
    from_run TEXT NOT NULL,
    to_revision TEXT NOT NULL,
    to_run TEXT NOT NULL,
    started_by TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, id)
) STRICT;

CREATE TABLE stops (
    digest BLOB NOT NULL PRIMARY KEY,
    reason TEXT NOT NULL,
    stopped_by TEXT NOT NULL,
    stopped_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
)sql";

} // namespace assay::store
