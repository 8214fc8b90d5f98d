// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/health_monitor.h"
#include "server/api/service.h"
#include "server/api/stored_tokens.h"
#include "tests/support/test_support.h"

#include <QTemporaryDir>

namespace assay::test {

/// A reply with its body in one piece; an event stream's body is what it held.
struct Answer
{
    int status = 0;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;

    std::string header(std::string_view name) const;
    /// The body as JSON; null when it is none.
    json::value json() const;
    /// Status, headers and body in one text: two answers that a client cannot tell apart have the same.
    std::string bytes() const;
};

struct Sent
{
    std::string token;
    std::string body;
    std::map<std::string, std::string, std::less<>> headers{}; ///< "content-type" is JSON unless it stands here
    api::Trust trust = api::Trust::TokenRequired;
};

/// No driver at all: every run is refused, and listed.
class NoBoxes final : public runs::BoxProvider
{
public:
    Result<sandbox::BoxDriver*> driver(std::string_view) override
    {
        return refuse("driver_unavailable", "this test has no driver");
    }
    sandbox::BaseRoot base() override { return {"host, unpinned", {}}; }
};

class QuietParts final : public api::HealthMonitor::Parts
{
public:
    std::vector<std::string> drivers() override { return {"bubblewrap"}; }
    contract::PartHealth probe(const std::string& driver) override
    {
        return {.name = driver, .state = "ready", .limits = "soft"};
    }
    Result<std::string> prove(const std::string&) override { return std::string("it answered"); }
    Result<void> record(const auth::Identity*, const contract::PartHealth&) override { return {}; }
    contract::PartHealth store() override { return {.name = "store", .state = "ready"}; }
    contract::PartHealth base() override { return {.name = "base", .state = "ready"}; }
    contract::PartHealth gateway() override { return {.name = "gateway", .state = "disabled"}; }
};

/// The whole API over real services in a folder of its own, called as the HTTP server calls it.
class ApiFixture
{
public:
    ApiFixture();
    ~ApiFixture();

    /// The same as `send` without a record: from any thread.
    Answer handle(api::Method method, const std::string& target, const Sent& sent);
    /// `target` is a path with a query, percent-encoded.
    Answer send(api::Method method, const std::string& target, const Sent& sent = {});
    /// A token of the scope {"tenant": tenant} with these roles.
    std::string token(const std::string& tenant, const std::vector<std::string>& roles);
    auth::TokenService& tokens() { return m_tokens; }
    /// The rows of a scope's audit chain, oldest first; of the server's own with an empty fingerprint.
    std::vector<audit::Row> auditRows(const std::string& fingerprint);
    const std::vector<std::pair<std::string, Answer>>& record() const { return m_record; }

private:
    QTemporaryDir m_dir;
    SystemClock m_clock;
    std::unique_ptr<store::Database> m_database;
    std::unique_ptr<store::SkillPackageStore> m_packages;
    std::unique_ptr<store::SkillPackageStore> m_artifacts;
    audit::Ledger m_ledger{*m_database, m_clock};
    audit::Refusals m_refusals{m_ledger, m_clock};
    audit::SigningKey m_key{audit::SigningKey::open(m_dir.filePath("ledger.key").toStdString()).value()};
    audit::Reader m_audit{*m_database, m_key.publicKey()};
    audit::Verifier m_verifier{*m_database, m_key.publicKey()};
    review::Desk m_desk;
    registry::SkillService m_skills;
    registry::AgentService m_agents;
    NoBoxes m_boxes;
    runs::RunService m_runs;
    retention::CollectionService m_collections;
    runs::SampleRuns m_sampleRuns;
    api::StoredTokens m_stored;
    auth::Authenticator m_authenticator;
    auth::TokenService m_tokens;
    QuietParts m_parts;
    api::HealthMonitor m_health;
    std::unique_ptr<api::Service> m_service;
    std::vector<std::pair<std::string, Answer>> m_record; ///< every answer with "METHOD /template"
};

/// Percent-encodes everything but unreserved characters.
std::string encoded(std::string_view text);

/// A skill that passes every rule, as the body of a publish; `mark` makes contents differ.
std::string skillBody(const std::string& name, const std::string& mark = {});

/// {"name": "text"}.
std::string member(std::string_view name, std::string_view text);

/// Strings that break software; empty where the shared data is not on this machine.
std::vector<std::string> naughtyStrings();

} // namespace assay::test
