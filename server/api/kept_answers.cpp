// SPDX-License-Identifier: Apache-2.0
#include "server/api/kept_answers.h"

#include "server/auth/sealed_text.h"
#include "server/core/json.h"

namespace assay::api {

namespace {

constexpr std::chrono::hours kKept{24};
constexpr std::uint32_t kPrunedAtOnce = 100;

/// A key is its person's alone. It holds no line feed, so the two cannot be told apart wrongly; hashed, so that nobody
/// is named where answers are kept.
std::string storedKey(const KeyedRequest& request)
{
    return Digest::ofBytes(request.principal + '\n' + request.key).hex();
}

std::string nameOf(const KeyedRequest& request)
{
    return request.scopeFingerprint + '\n' + request.route + '\n' + storedKey(request);
}

std::string headersText(const Reply& reply)
{
    json::array out;
    for (const auto& [name, value] : reply.headers)
        out.push_back(json::array{name, value});
    return json::serialize(out);
}

Result<std::vector<std::pair<std::string, std::string>>> headersFrom(const std::string& text)
{
    std::vector<std::pair<std::string, std::string>> out;
    const auto value = parseJson(text);
    const json::array* list = value ? value->if_array() : nullptr;
    if (!list)
        return fail(ErrorCode::Internal, "a kept answer cannot be read", "headers");
    for (const json::value& item : *list) {
        const json::array* pair = item.if_array();
        if (!pair || pair->size() != 2 || !(*pair)[0].is_string() || !(*pair)[1].is_string())
            return fail(ErrorCode::Internal, "a kept answer cannot be read", "header");
        out.emplace_back(std::string((*pair)[0].get_string()), std::string((*pair)[1].get_string()));
    }
    return out;
}

std::unexpected<Error> usedWithOtherBody()
{
    return fail(ErrorCode::Conflict, "this Idempotency-Key was used with another body; take a new key");
}

std::unexpected<Error> stillRunning()
{
    return fail(ErrorCode::Conflict, "the first request with this Idempotency-Key still runs; ask again later");
}

std::unexpected<Error> cutOff()
{
    return fail(ErrorCode::Conflict, "the server was interrupted while it worked on the first request with this "
                                     "Idempotency-Key, and whether that was done is not known; look, then take a new "
                                     "key");
}

std::unexpected<Error> sealedForAnother()
{
    return fail(ErrorCode::Conflict, "this request was done, but its answer holds a secret that only the token that "
                                     "asked first may see again; revoke what it made and take a new key");
}

} // namespace

/// One at a time for each key; ended in any case.
struct KeptAnswers::Turn
{
    Turn(KeptAnswers& owner, std::string name) : m_owner(owner), m_name(std::move(name)) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn()
    {
        if (!m_isHeld)
            return;
        const std::lock_guard lock(m_owner.m_mutex);
        m_owner.m_running.erase(m_name);
        m_owner.m_ended.notify_all();
    }
    bool take()
    {
        std::unique_lock lock(m_owner.m_mutex);
        m_isHeld =
            m_owner.m_ended.wait_for(lock, m_owner.m_patience, [this] { return !m_owner.m_running.contains(m_name); });
        if (m_isHeld)
            m_owner.m_running.insert(m_name);
        return m_isHeld;
    }

private:
    KeptAnswers& m_owner;
    std::string m_name;
    bool m_isHeld = false;
};

Result<Reply> KeptAnswers::answer(const KeyedRequest& request, const std::function<Answer()>& execute)
{
    Turn turn(*this, nameOf(request));
    if (!turn.take())
        return stillRunning();
    auto found = kept(request);
    if (!found)
        return forward(found);
    if (*found)
        return std::move(**found);
    if (auto begun = begin(request); !begun)
        return forward(begun);
    Answer answer = execute();
    if (answer.kind == Answer::Kind::Passing)
        forget(request);
    else
        // It is done either way: an answer that could not be kept is still the answer.
        (void)keep(request, answer.reply);
    return std::move(answer.reply);
}

Result<std::optional<Reply>> KeptAnswers::kept(const KeyedRequest& request)
{
    auto row = m_database.read([&](store::Connection& connection) {
        return store::IdempotencyTable(connection)
            .find(request.scopeFingerprint, request.route, storedKey(request), m_clock.now());
    });
    if (!row)
        return forward(row);
    if (!*row)
        return std::optional<Reply>{};
    if ((*row)->requestDigest != request.bodyDigest)
        return usedWithOtherBody();
    if ((*row)->status == 0)
        return cutOff();
    auto headers = headersFrom((*row)->headers);
    if (!headers)
        return forward(headers);
    Reply reply{(*row)->status, std::move(*headers), std::move((*row)->body)};
    if (request.sealKey) {
        auto opened = auth::openSealedText(*request.sealKey, std::get<std::string>(reply.body));
        if (!opened)
            return sealedForAnother();
        reply.body = std::move(*opened);
    }
    return std::optional(std::move(reply));
}

Result<void> KeptAnswers::begin(const KeyedRequest& request)
{
    const Timestamp now = m_clock.now();
    const store::IdempotencyRow row{request.route, storedKey(request), request.bodyDigest, 0, "[]", {},
                                    now,           now + kKept};
    const auto isNew = m_database.write([&](store::Connection& connection) -> Result<bool> {
        store::IdempotencyTable table(connection);
        if (auto pruned = table.removeExpired(now, kPrunedAtOnce); !pruned)
            return forward(pruned);
        return table.insert(request.scopeFingerprint, row);
    });
    if (!isNew)
        return std::unexpected(isNew.error());
    return *isNew ? Result<void>{} : Result<void>(stillRunning());
}

/// A row that stays only makes the caller take a new key.
void KeptAnswers::forget(const KeyedRequest& request)
{
    (void)m_database.write([&](store::Connection& connection) {
        return store::IdempotencyTable(connection)
            .removeBegun(request.scopeFingerprint, request.route, storedKey(request));
    });
}

Result<void> KeptAnswers::keep(const KeyedRequest& request, const Reply& reply)
{
    const std::string* body = std::get_if<std::string>(&reply.body);
    if (!body)
        return fail(ErrorCode::Internal, "only a plain answer can be kept");
    std::string text = *body;
    if (request.sealKey) {
        auto sealed = auth::sealText(*request.sealKey, text);
        if (!sealed)
            return forward(sealed);
        text = std::move(*sealed);
    }
    const Timestamp now = m_clock.now();
    const store::IdempotencyRow row{request.route, storedKey(request), request.bodyDigest,
                                    reply.status,  headersText(reply), std::move(text),
                                    now,           now + kKept};
    return m_database.write([&](store::Connection& connection) -> Result<void> {
        auto kept = store::IdempotencyTable(connection).complete(request.scopeFingerprint, row);
        return kept ? Result<void>{} : forward(kept);
    });
}

} // namespace assay::api
