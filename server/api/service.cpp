// SPDX-License-Identifier: Apache-2.0
#include "server/api/service.h"

#include "server/api/admission.h"
#include "server/api/audited.h"
#include "server/api/kept_answers.h"
#include "server/api/replies.h"
#include "server/api/router.h"
#include "server/core/random.h"

#include <exception>

namespace assay::api {

namespace {

constexpr std::uint64_t kEmptyBodyBytes = 1024; // what "no body" may still be: an empty object with blanks

/// Everything that lives as long as the service.
struct Core
{
    explicit Core(Services owned)
        : services(std::move(owned)),
          router(routeTable()),
          answers(services.database, services.clock),
          ownKey(Digest::ofBytes(randomBytes(Digest::kBytes)))
    {}
    Services services;
    Router router;
    KeptAnswers answers;
    Digest ownKey; ///< seals answers of callers that have no token

    void log(std::string_view route, const Error& error) const
    {
        if (services.log)
            services.log->failed(route, error);
    }
    void note(const std::optional<audit::Record>& refusal) const
    {
        if (refusal && services.refusals)
            services.refusals->note(*refusal);
    }
    Reply problem(std::string_view route, const Error& error) const
    {
        log(route, error);
        return problemReply(error, fixedPart(route));
    }
};

std::uint64_t bodyLimit(const BodyLimits& limits, BodyKind kind)
{
    switch (kind) {
    case BodyKind::None:
        return kEmptyBodyBytes;
    case BodyKind::Json:
    case BodyKind::OptionalJson:
        return limits.json;
    case BodyKind::Package:
    case BodyKind::PackageJson:
        return limits.packageJson;
    case BodyKind::Run:
        return limits.run;
    }
    return 0;
}

/// Would the same request always fail like this? What depends on the moment is asked anew, and so is what a header
/// decides that is no part of the key's request: If-Match.
bool isDeterministic(const Error& error)
{
    switch (error.code) {
    case ErrorCode::InvalidArgument:
    case ErrorCode::NotFound:
    case ErrorCode::Conflict:
    case ErrorCode::UnsupportedMedia:
    case ErrorCode::InvalidPackage:
        return true;
    default:
        return false;
    }
}

class AdmittedRequest final : public Admitted
{
public:
    AdmittedRequest(Core& core, const Route& route, Request request, std::optional<std::string> key, BodyPolicy policy)
        : m_core(core), m_route(route), m_request(std::move(request)), m_key(std::move(key)), m_policy(policy)
    {}

    std::string_view route() const override { return m_route.path; }
    BodyPolicy bodyPolicy() const override { return m_policy; }

    Reply handle(Body body) override
    {
        m_request.body = std::move(body);
        if (!m_key)
            return execute().reply;
        const KeyedRequest keyed = keyedRequest();
        auto reply = m_core.answers.answer(keyed, [this] { return execute(); });
        return reply ? std::move(*reply) : m_core.problem(m_route.path, reply.error());
    }

private:
    Answer execute()
    {
        auto reply = guarded();
        if (reply)
            return {std::move(*reply), Answer::Kind::Deterministic};
        m_core.note(refusedRequest(m_route, m_request, reply.error()));
        const auto kind = isDeterministic(reply.error()) ? Answer::Kind::Deterministic : Answer::Kind::Passing;
        return {m_core.problem(m_route.path, reply.error()), kind};
    }

    /// The last line against a library's exception: memory that ran out, above all.
    Result<Reply> guarded()
    {
        try {
            return m_route.handler(m_core.services, m_request);
        } catch (const std::bad_alloc&) {
            return fail(ErrorCode::Unavailable, "the server is out of memory; try again later", "bad_alloc");
        } catch (const std::exception& exception) {
            return fail(ErrorCode::Internal, "the server failed", exception.what());
        }
    }

    KeyedRequest keyedRequest() const
    {
        KeyedRequest keyed{m_request.by.scopeFingerprint,           m_request.by.principal,
                           std::string(methodName(m_route.method)), *m_key,
                           Digest::ofBytes(m_request.body.bytes),   std::nullopt};
        for (const std::string& segment : m_request.head.segments)
            keyed.route += (&segment == m_request.head.segments.data() ? " /" : "/") + segment;
        if (m_route.replay == Replay::Sealed)
            keyed.sealKey = sealKey(keyed);
        return keyed;
    }

    /// The database holds a hash of the caller's token only, so it cannot open what the token itself has sealed.
    Digest sealKey(const KeyedRequest& keyed) const
    {
        const std::string_view token = m_request.head.header("authorization");
        const std::string_view secret = m_request.by.tokenId.empty() ? m_core.ownKey.bytes() : token;
        return hmacSha256(secret,
                          "assay-kept-answer-v1\n" + keyed.scopeFingerprint + '\n' + keyed.route + '\n' + keyed.key);
    }

    Core& m_core;
    const Route& m_route;
    Request m_request;
    std::optional<std::string> m_key;
    BodyPolicy m_policy;
};

class ApiService final : public Service
{
public:
    explicit ApiService(Services services) : m_core(std::move(services)) {}

    std::expected<std::unique_ptr<Admitted>, Reply> admit(RequestHead head) override
    {
        auto admission = judge(m_core.router, m_core.services.authenticator, head);
        if (!admission)
            return std::unexpected(refusal(admission.error()));
        const Route& route = *admission->route;
        const bool isArchive = admission->content == Content::Archive;
        const BodyPolicy policy{
            isArchive ? m_core.services.bodies.archive : bodyLimit(m_core.services.bodies, route.body), isArchive};
        Request request{std::move(admission->identity),
                        std::move(admission->parameters),
                        std::move(admission->query),
                        std::move(head),
                        {}};
        return std::make_unique<AdmittedRequest>(m_core, route, std::move(request), std::move(admission->key), policy);
    }

    Reply problem(const Error& error) override { return m_core.problem("/", error); }

private:
    Reply refusal(const Refusal& refused) const
    {
        if (m_core.services.metrics && !refused.denied.empty())
            m_core.services.metrics->denied(refused.denied);
        m_core.note(refusedAdmission(refused));
        Reply reply = m_core.problem(refused.route, refused.error);
        if (!refused.allow.empty())
            reply.headers.emplace_back("Allow", refused.allow);
        return reply;
    }

    Core m_core;
};

} // namespace

std::unique_ptr<Service> makeService(Services services) { return std::make_unique<ApiService>(std::move(services)); }

} // namespace assay::api
