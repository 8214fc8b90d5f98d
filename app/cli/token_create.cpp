// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "app/cli/local_data.h"
#include "server/audit/ledger.h"
#include "server/auth/roles.h"
#include "server/auth/token_service.h"
#include "server/store/database.h"
#include "server/store/database_file.h"
#include "server/store/token_table.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string data;
    std::vector<std::string> scope;
    std::vector<std::string> roles;
    std::string principal;
    std::string name;
    std::string expires;
};

/// Where the one new token goes; making one reads nothing.
class NewToken final : public auth::TokenStore
{
public:
    explicit NewToken(store::Database& database) : m_database(database) {}

    Result<void> insert(const auth::StoredToken& token, const auth::Identity& by) override
    {
        const store::TokenRow row{token.id,   token.fingerprint, token.secretHash, token.principal, token.roles.bits(),
                                  token.name, token.createdAt,   token.expiresAt,  token.revokedAt};
        auto record = audit::recordBy(by, audit::Operation::TokenCreate, audit::Decision::Allowed,
                                      audit::ResourceType::Token, token.id);
        const SystemClock clock;
        audit::Ledger ledger(m_database, clock);
        return m_database.write([&](store::Connection& connection) -> Result<void> {
            if (auto inserted = store::TokenTable(connection).insert(row); !inserted)
                return inserted;
            return ledger.append(connection, record);
        });
    }
    Result<std::optional<auth::StoredToken>> findBySecretHash(const Digest&) override { return std::nullopt; }
    Result<std::optional<auth::StoredToken>> find(std::string_view) override { return std::nullopt; }
    Result<std::vector<auth::StoredToken>> list(std::string_view, std::uint32_t) override { return {}; }
    Result<bool> revoke(std::string_view, Timestamp, const auth::Identity&) override { return false; }

private:
    store::Database& m_database;
};

Result<contract::CreateToken> requestOf(const Options& options)
{
    contract::CreateToken out;
    out.name = options.name;
    out.roles = options.roles;
    out.principal = options.principal;
    for (const std::string& pair : options.scope) {
        const std::size_t equals = pair.find('=');
        if (equals == std::string::npos || equals == 0)
            return fail(ErrorCode::InvalidArgument, "write --scope as KEY=VALUE: " + pair);
        if (!out.scope.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second)
            return fail(ErrorCode::InvalidArgument, "--scope names the key " + pair.substr(0, equals) + " twice");
    }
    if (!options.expires.empty()) {
        auto time = parseTimestamp(options.expires);
        if (!time)
            return fail(ErrorCode::InvalidArgument, "write --expires as 2027-01-31T00:00:00Z");
        out.expiresAt = *time;
    }
    return out;
}

Result<contract::CreatedToken> createLocally(const Options& options, const contract::CreateToken& request)
{
    auto path = madeDataDirectory(options.data);
    if (!path)
        return forward(path);
    store::DatabaseOptions database;
    database.file = store::databaseFile(*path);
    database.readers = 1;
    database.use = store::DatabaseUse::BesideServer;
    auto opened = store::Database::open(database);
    if (!opened)
        return forward(opened);
    const SystemClock clock;
    NewToken tokens(**opened);
    auth::Authenticator authenticator(tokens, clock);
    return auth::TokenService(tokens, authenticator, clock).create(request);
}

json::value bodyOf(const contract::CreateToken& request)
{
    json::object scope;
    for (const auto& [key, value] : request.scope)
        scope[key] = value;
    json::object out{{"scope", std::move(scope)}, {"roles", json::value_from(request.roles)}};
    if (!request.name.empty())
        out["name"] = request.name;
    if (!request.principal.empty())
        out["principal"] = request.principal;
    if (request.expiresAt)
        out["expires_at"] = formatTimestamp(*request.expiresAt);
    return out;
}

Result<json::value> createRemotely(Context& context, const contract::CreateToken& request)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    auto answer = (*api)->post("/v1/tokens", bodyOf(request));
    if (!answer)
        return forward(answer);
    return std::move(answer->body);
}

Result<json::value> create(Context& context, const Options& options, const contract::CreateToken& request)
{
    if (options.data.empty())
        return createRemotely(context, request);
    auto made = createLocally(options, request);
    if (!made)
        return forward(made);
    return json::object{{"id", made->token.id},
                        {"secret", made->secret},
                        {"scope_fingerprint", made->token.scopeFingerprint},
                        {"principal", made->token.principal},
                        {"roles", json::value_from(made->token.roles)}};
}

/// The secret goes to standard output alone, so that it can be caught; what it is goes to standard error.
Result<int> createToken(Context& context, const Options& options)
{
    auto request = requestOf(options);
    if (!request)
        return forward(request);
    auto made = create(context, options, *request);
    if (!made)
        return forward(made);
    context.print(*made, [](const json::value& value) { return textOf(value, "secret") + '\n'; });
    if (!context.asJson())
        context.console.error("token " + plain(textOf(*made, "id")) + " of scope " +
                              plain(textOf(*made, "scope_fingerprint")) + "; its secret is shown this once\n");
    return kDone;
}

} // namespace

void addTokenCreate(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add(
        "create",
        "Make a token: with --data in a server's own directory, also while it serves; else through the server");
    command.option("--data", options->data, "Data directory of a server on this machine");
    command.list("--scope", options->scope, "KEY=VALUE of the scope; repeat for more");
    command.list("--role", options->roles, "viewer, builder, reviewer, runner or operator; repeat for more");
    command.option("--principal", options->principal, "Who acts; the token's id when absent");
    command.option("--name", options->name, "What it is for");
    command.option("--expires", options->expires, "When it ends (RFC 3339)");
    onCommand(command, context, std::move(options), createToken);
}

} // namespace assay::cli
