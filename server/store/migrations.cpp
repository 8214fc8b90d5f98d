// SPDX-License-Identifier: Apache-2.0
#include "server/store/migrations.h"

#include "server/store/review_schema.h"

#include <array>

namespace assay::store {

namespace {

// Small tables come first: the check at start reads the tables in this order and has little time. Times are
// milliseconds since 1970, digests 32 raw bytes, `fingerprint` the scope.
constexpr const char* kFoundation = R"sql(
CREATE TABLE server_state (
    name TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
    fingerprint TEXT NOT NULL,
    id TEXT NOT NULL,
    secret_sha256 BLOB NOT NULL UNIQUE,
    principal TEXT NOT NULL,
    roles INTEGER NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    PRIMARY KEY (fingerprint, id)
) STRICT;
CREATE UNIQUE INDEX tokens_by_id ON tokens (id);

CREATE TABLE skills (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    enabled INTEGER NOT NULL,
    state TEXT NOT NULL,
    current_revision TEXT,
    shown_revision TEXT NOT NULL,
    shown_number INTEGER NOT NULL,
    shown_digest BLOB NOT NULL,
    shown_file_count INTEGER NOT NULL,
    shown_size_bytes INTEGER NOT NULL,
    last_number INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    visibility TEXT NOT NULL,
    labels TEXT NOT NULL,
    shown_lints TEXT NOT NULL,
    shown_ignored TEXT NOT NULL,
    description TEXT NOT NULL,
    search_text TEXT NOT NULL,
    UNIQUE (fingerprint, name)
) STRICT;

CREATE TABLE agents (
    fingerprint TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    revision TEXT NOT NULL,
    number INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    PRIMARY KEY (fingerprint, name)
) STRICT;

CREATE TABLE agent_revisions (
    fingerprint TEXT NOT NULL,
    agent TEXT NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    digest BLOB NOT NULL,
    definition TEXT NOT NULL,
    publisher TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, agent, number),
    UNIQUE (fingerprint, id),
    FOREIGN KEY (fingerprint, agent) REFERENCES agents (fingerprint, name)
) STRICT;

CREATE TABLE revisions (
    row INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    skill TEXT NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    digest BLOB NOT NULL,
    file_count INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    promoted_at INTEGER,
    withdrawn_at INTEGER,
    publisher TEXT NOT NULL,
    note TEXT NOT NULL,
    withdrawn_reason TEXT NOT NULL,
    network TEXT NOT NULL,
    allowed_tools TEXT NOT NULL,
    lints TEXT NOT NULL,
    ignored TEXT NOT NULL,
    description TEXT NOT NULL,
    files TEXT NOT NULL,
    UNIQUE (fingerprint, skill, number),
    UNIQUE (fingerprint, id),
    FOREIGN KEY (fingerprint, skill) REFERENCES skills (fingerprint, name)
) STRICT;

CREATE TABLE runs (
    fingerprint TEXT NOT NULL,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    agent TEXT NOT NULL,
    agent_revision TEXT NOT NULL,
    session INTEGER NOT NULL,
    driver TEXT NOT NULL,
    base_digest TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    creator TEXT NOT NULL,
    termination TEXT NOT NULL,
    reason TEXT NOT NULL,
    message TEXT NOT NULL,
    phases TEXT NOT NULL,
    usage TEXT NOT NULL,
    rejected_outputs TEXT NOT NULL,
    manifest_digest TEXT NOT NULL,
    manifest BLOB NOT NULL,
    PRIMARY KEY (fingerprint, id)
) STRICT;
CREATE INDEX runs_unfinished ON runs (fingerprint, id) WHERE ended_at IS NULL;

CREATE TABLE run_skills (
    fingerprint TEXT NOT NULL,
    run TEXT NOT NULL,
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    revision TEXT NOT NULL,
    number INTEGER NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (fingerprint, run, name),
    FOREIGN KEY (fingerprint, run) REFERENCES runs (fingerprint, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_skills_by_digest ON run_skills (fingerprint, digest);

CREATE TABLE artifacts (
    fingerprint TEXT NOT NULL,
    id TEXT NOT NULL,
    run TEXT NOT NULL,
    path TEXT NOT NULL,
    sha256 BLOB NOT NULL,
    size_bytes INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, id),
    UNIQUE (fingerprint, run, path),
    FOREIGN KEY (fingerprint, run) REFERENCES runs (fingerprint, id)
) STRICT;

CREATE TABLE idempotency (
    fingerprint TEXT NOT NULL,
    route TEXT NOT NULL,
    key TEXT NOT NULL,
    request_sha256 BLOB NOT NULL,
    status INTEGER NOT NULL,
    headers TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (fingerprint, route, key)
) STRICT;
CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);

CREATE TABLE commands (
    fingerprint TEXT NOT NULL,
    run TEXT NOT NULL,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    exit_code INTEGER,
    signal INTEGER,
    termination TEXT NOT NULL,
    stdout_bytes INTEGER NOT NULL,
    stderr_bytes INTEGER NOT NULL,
    wall_ms INTEGER NOT NULL,
    cpu_ms INTEGER NOT NULL,
    max_rss_bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    stdout_head BLOB NOT NULL,
    stdout_tail BLOB NOT NULL,
    stderr_head BLOB NOT NULL,
    stderr_tail BLOB NOT NULL,
    PRIMARY KEY (fingerprint, run, id),
    FOREIGN KEY (fingerprint, run) REFERENCES runs (fingerprint, id)
) STRICT;

CREATE TABLE run_events (
    fingerprint TEXT NOT NULL,
    run TEXT NOT NULL,
    events BLOB NOT NULL,
    PRIMARY KEY (fingerprint, run),
    FOREIGN KEY (fingerprint, run) REFERENCES runs (fingerprint, id)
) STRICT;

CREATE TABLE bundles (
    row INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    digest BLOB NOT NULL,
    part INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (fingerprint, digest, part)
) STRICT;

CREATE TABLE artifact_bundles (
    row INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    digest BLOB NOT NULL,
    part INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (fingerprint, digest, part)
) STRICT;
)sql";

// The audit ledger (docs/ledger.md): `ledger` is only ever added to, row by row, each chained to the one before it in
// its scope; `ledger_open` lists what was reserved and has not ended; an anchor signs a chain's newest row, and `link`
// chains the anchors.
constexpr const char* kLedger = R"sql(
CREATE TABLE ledger_open (
    fingerprint TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger_anchors (
    number INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    row_hash BLOB NOT NULL,
    signature BLOB NOT NULL,
    link BLOB NOT NULL,
    link_signature BLOB NOT NULL,
    key_id TEXT NOT NULL
) STRICT;
CREATE INDEX ledger_anchors_by_row ON ledger_anchors (fingerprint, seq);

CREATE TABLE ledger (
    row INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    actor_type TEXT NOT NULL,
    auth_source TEXT NOT NULL,
    resource_type TEXT NOT NULL,
    resource TEXT NOT NULL,
    operation TEXT NOT NULL,
    decision TEXT NOT NULL,
    run TEXT NOT NULL,
    reservation INTEGER,
    occurrences INTEGER NOT NULL,
    surface TEXT NOT NULL,
    cwd TEXT NOT NULL,
    reason TEXT NOT NULL,
    exit_code INTEGER,
    termination TEXT NOT NULL,
    base_digest TEXT NOT NULL,
    egress_mode TEXT NOT NULL,
    egress_total_bytes INTEGER,
    wall_ms INTEGER,
    workspace_kib INTEGER,
    previous BLOB NOT NULL,
    hash BLOB NOT NULL,
    UNIQUE (fingerprint, seq)
) STRICT;
CREATE INDEX ledger_by_time ON ledger (fingerprint, at);
CREATE INDEX ledger_by_decision ON ledger (fingerprint, decision, at);
CREATE INDEX ledger_by_operation ON ledger (fingerprint, operation, at);
CREATE INDEX ledger_by_actor ON ledger (fingerprint, actor, at);
CREATE INDEX ledger_by_run ON ledger (fingerprint, run, at) WHERE run <> '';
CREATE TRIGGER ledger_never_changes BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is only ever added to'); END;
CREATE TRIGGER ledger_never_shrinks BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is only ever added to'); END;
)sql";

// What the collector looks for, by age and by what names a bundle (docs/retention.md). The partial indexes cost nothing
// while nothing is withdrawn or deleted.
constexpr const char* kRetention = R"sql(
CREATE TABLE retention (
    fingerprint TEXT NOT NULL PRIMARY KEY,
    runs_days INTEGER,
    artifacts_days INTEGER,
    revisions_days INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_by_end ON runs (fingerprint, ended_at, id) WHERE ended_at IS NOT NULL;
CREATE INDEX artifacts_by_age ON artifacts (fingerprint, created_at, id);
CREATE INDEX artifacts_by_digest ON artifacts (fingerprint, sha256);
CREATE INDEX revisions_by_digest ON revisions (fingerprint, digest);
CREATE INDEX revisions_withdrawn ON revisions (fingerprint, withdrawn_at) WHERE withdrawn_at IS NOT NULL;
CREATE INDEX skills_deleted ON skills (fingerprint, deleted_at) WHERE deleted_at IS NOT NULL;
)sql";

// What a revision can do, found when it was published; empty for the revisions before, and made when it is asked for.
constexpr const char* kCapabilities = "ALTER TABLE revisions ADD COLUMN capabilities TEXT NOT NULL DEFAULT '';";

// Where a skill's schemas are, whether it has to be executed, and what came of a run's output. Older revisions are
// judged by their files, as agent warnings did so far: the stored form is [path, sha256, size, executable, kind, media
// type].
constexpr const char* kSchemas = R"sql(
ALTER TABLE revisions ADD COLUMN input_schema TEXT NOT NULL DEFAULT '';
ALTER TABLE revisions ADD COLUMN output_schema TEXT NOT NULL DEFAULT '';
ALTER TABLE revisions ADD COLUMN requires_execution INTEGER NOT NULL DEFAULT 0;
ALTER TABLE skills ADD COLUMN shown_requires_execution INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN output_check TEXT NOT NULL DEFAULT '';
UPDATE revisions SET requires_execution = 1
 WHERE files LIKE '%["scripts/%' OR files LIKE '%,1,"text",%' OR files LIKE '%,1,"asset",%';
UPDATE skills SET shown_requires_execution = 1 WHERE EXISTS
 (SELECT 1 FROM revisions r WHERE r.fingerprint = skills.fingerprint AND r.id = skills.shown_revision
  AND r.requires_execution = 1);
)sql";

// What the operator set for a scope; absent rows are the defaults.
constexpr const char* kScopeSettings = R"sql(
CREATE TABLE scope_settings (
    fingerprint TEXT NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL,
    promotion_mode TEXT NOT NULL,
    required_checks TEXT NOT NULL,
    required_approvals INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;
)sql";

constexpr const char* kSubagents = "ALTER TABLE runs ADD COLUMN subagent TEXT NOT NULL DEFAULT ''";

// What the collector looks for of a run and of a skill.
constexpr const char* kReviewIndexes = R"sql(
CREATE INDEX sample_runs_by_run ON sample_runs (fingerprint, run);
CREATE INDEX comparisons_by_from ON comparisons (fingerprint, from_run);
CREATE INDEX comparisons_by_to ON comparisons (fingerprint, to_run);
CREATE INDEX comparisons_by_skill ON comparisons (fingerprint, skill);
)sql";

constexpr std::array kMigrations{kFoundation,    kLedger,       kRetention, kCapabilities, kSchemas,
                                 kScopeSettings, kReviewSchema, kSubagents, kReviewIndexes};

} // namespace

std::span<const char* const> migrations() { return kMigrations; }

} // namespace assay::store
