// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/api/api_fixture.h"

#include "server/api/route.h"
#include "server/store/package_store_factory.h"

#include <QJsonArray>
#include <QJsonDocument>

#include <unistd.h>

namespace assay::test {

namespace {

template <typename T> T need(Result<T> result)
{
    if (!result)
        qFatal("%s", explain(result).constData());
    return std::move(*result);
}

std::string decoded(std::string_view text)
{
    return QByteArray::fromPercentEncoding(QByteArray(text.data(), qsizetype(text.size()))).toStdString();
}

std::vector<std::string_view> split(std::string_view text, char separator)
{
    std::vector<std::string_view> out;
    while (!text.empty()) {
        const auto end = text.find(separator);
        out.push_back(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    return out;
}

api::RequestHead headOf(api::Method method, std::string_view target, const Sent& sent)
{
    api::RequestHead head;
    head.method = method;
    head.trust = sent.trust;
    head.headers = sent.headers;
    const auto question = target.find('?');
    for (const auto segment :
         split(target.substr(1, question == std::string_view::npos ? question : question - 1), '/'))
        head.segments.push_back(decoded(segment));
    if (question != std::string_view::npos)
        for (const auto pair : split(target.substr(question + 1), '&'))
            head.query.emplace_back(decoded(pair.substr(0, pair.find('='))),
                                    pair.contains('=') ? decoded(pair.substr(pair.find('=') + 1)) : "");
    if (!sent.token.empty())
        head.headers["authorization"] = "Bearer " + sent.token;
    head.hasBody = !sent.body.empty();
    if (head.hasBody)
        head.headers.emplace("content-type", "application/json");
    return head;
}

std::string eventsOf(api::EventSource& source)
{
    std::string out;
    for (int i = 0; i < 100; ++i) {
        const auto batch = source.read(100);
        for (const auto& event : batch.events)
            out += "id: " + std::to_string(event.id) + "\nevent: " + event.type + "\ndata: " + event.data + "\n\n";
        if (batch.ended)
            return out;
    }
    return out;
}

Answer answerOf(api::Reply reply)
{
    Answer answer{reply.status, std::move(reply.headers), {}};
    if (auto* text = std::get_if<std::string>(&reply.body))
        answer.body = std::move(*text);
    else if (auto* shared = std::get_if<api::Reply::Shared>(&reply.body))
        answer.body = shared->bytes;
    else
        answer.body = eventsOf(*std::get<std::unique_ptr<api::EventSource>>(reply.body));
    return answer;
}

api::Body bodyOf(const std::string& bytes, const api::BodyPolicy& policy, const std::filesystem::path& folder)
{
    api::Body body;
    body.sizeBytes = bytes.size();
    if (!policy.toFile) {
        body.bytes = bytes;
        return body;
    }
    body.file = need(openUnnamedFile(folder));
    if (!writeAll(body.file.get(), bytes) || lseek(body.file.get(), 0, SEEK_SET) != 0)
        qFatal("spool");
    return body;
}

} // namespace

std::string Answer::header(std::string_view name) const
{
    for (const auto& [key, value] : headers)
        if (key == name)
            return value;
    return {};
}

json::value Answer::json() const { return parseJson(body).value_or(json::value()); }

std::string Answer::bytes() const
{
    std::string out = std::to_string(status) + "\n";
    for (const auto& [name, value] : headers)
        out += name + ": " + value + "\n";
    return out + "\n" + body;
}

ApiFixture::ApiFixture()
    : m_database(need(store::Database::open({.file = m_dir.filePath("assay.db").toStdString()}))),
      m_packages(need(store::makePackageStore({}, *m_database))),
      m_artifacts(need(store::makeArtifactStore({}, *m_database))),
      m_desk(*m_database, *m_packages, m_clock),
      m_skills(*m_database, *m_packages, m_clock, {}, nullptr, m_desk.checks()),
      m_agents(*m_database, m_clock),
      m_runs(*m_database, m_skills, m_agents, *m_artifacts, m_boxes, m_clock,
             {.cacheDirectory = m_dir.filePath("cache").toStdString()}),
      m_collections(*m_database, {{m_packages.get(), m_artifacts.get()}}, nullptr, m_clock, {}),
      m_sampleRuns(m_runs, m_skills, m_desk, m_clock),
      m_stored(*m_database),
      m_authenticator(m_stored, m_clock),
      m_tokens(m_stored, m_authenticator, m_clock),
      m_health(m_parts, m_clock)
{
    m_service = api::makeService({.skills = m_skills,
                                  .desk = m_desk,
                                  .agents = m_agents,
                                  .runs = m_runs,
                                  .sampleRuns = m_sampleRuns,
                                  .authenticator = m_authenticator,
                                  .tokens = m_tokens,
                                  .health = m_health,
                                  .collections = m_collections,
                                  .database = *m_database,
                                  .clock = m_clock,
                                  .packageLimits = {},
                                  .scratchDirectory = m_dir.path().toStdString(),
                                  .bodies = {},
                                  .info = {"0.1.0", {"runs"}, {{"wait_ms", 120000}}, {"http://127.0.0.1:8473"}},
                                  .refusals = &m_refusals,
                                  .audit = &m_audit,
                                  .verifier = &m_verifier});
}

std::vector<audit::Row> ApiFixture::auditRows(const std::string& fingerprint)
{
    return need(m_database->read(
        [&](store::Connection& connection) { return audit::LedgerTable(connection).after(fingerprint, 0, 1000); }));
}

ApiFixture::~ApiFixture() { m_runs.stop(std::chrono::seconds(5)); }

Answer ApiFixture::handle(api::Method method, const std::string& target, const Sent& sent)
{
    auto admitted = m_service->admit(headOf(method, target, sent));
    if (!admitted)
        return answerOf(std::move(admitted.error()));
    return answerOf((*admitted)->handle(bodyOf(sent.body, (*admitted)->bodyPolicy(), m_dir.path().toStdString())));
}

Answer ApiFixture::send(api::Method method, const std::string& target, const Sent& sent)
{
    auto admitted = m_service->admit(headOf(method, target, sent));
    if (!admitted)
        return answerOf(std::move(admitted.error()));
    const std::string route = std::string(api::methodName(method)) + " " + std::string((*admitted)->route());
    const api::BodyPolicy policy = (*admitted)->bodyPolicy();
    Answer answer = sent.body.size() > policy.limitBytes
                        ? answerOf(m_service->problem({ErrorCode::TooLarge, "too large", {}, {}, {}}))
                        : answerOf((*admitted)->handle(bodyOf(sent.body, policy, m_dir.path().toStdString())));
    m_record.emplace_back(route, answer);
    return answer;
}

std::string ApiFixture::token(const std::string& tenant, const std::vector<std::string>& roles)
{
    return need(m_tokens.create({.scope = {{"tenant", tenant}}, .roles = roles})).secret;
}

std::string encoded(std::string_view text)
{
    return QByteArray(text.data(), qsizetype(text.size())).toPercentEncoding().toStdString();
}

std::string member(std::string_view name, std::string_view text) { return json::serialize(json::object{{name, text}}); }

std::string skillBody(const std::string& name, const std::string& mark)
{
    const std::string text =
        "---\nname: " + name + "\ndescription: Sorts tickets by urgency.\n---\n\nSort them. " + mark + "\n";
    return json::serialize(
        json::object{{"files", json::object{{"SKILL.md", text}, {"scripts/sort.py", "print('sorted')\n"}}},
                     {"assets", json::object{{"logo.png", "iVBORw0KGgo="}}}});
}

std::vector<std::string> naughtyStrings()
{
    QFile file(vectorsDirectory() + "/blns/blns.json");
    std::vector<std::string> out;
    if (vectorsDirectory().isEmpty() || !file.open(QIODevice::ReadOnly))
        return out;
    for (const QJsonValue& value : QJsonDocument::fromJson(file.readAll()).array())
        out.push_back(value.toString().toStdString());
    return out;
}

} // namespace assay::test
