// SPDX-License-Identifier: Apache-2.0
#include "server/api/kept_answers.h"
#include "tests/support/test_support.h"

#include <QTemporaryDir>

#include <latch>
#include <stdexcept>
#include <thread>

using namespace assay;
using namespace assay::api;

class TestKeptAnswers : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void theSameRequestIsExecutedOnce();
    void anotherBodyIsAConflict();
    void scopesPeopleRoutesAndKeysAreKeptApart();
    void passingFailuresAreAskedAnew();
    void answersEndAfterADay();
    void ofConcurrentRequestsOneExecutes();
    void theSecondWaitsOnlySoLong();
    void secretsAreNotInTheDatabase();
    void aSealedAnswerOpensForItsCallerOnly();
    void answersSurviveARestart();
    void aRequestThatACrashCutOffIsNotExecutedAgain();

private:
    std::unique_ptr<store::Database> open()
    {
        return store::Database::open({.file = m_dir->filePath("a.db").toStdString()}).value();
    }

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<store::Database> m_database;
    test::FakeClock m_clock;
    std::unique_ptr<KeptAnswers> m_answers;
    int m_executed = 0;
};

namespace {

KeyedRequest keyed(const std::string& body = "{}")
{
    return {"sc_a", "ann", "POST /v1/skills", "key", Digest::ofBytes(body), std::nullopt};
}

std::string bodyOf(const Result<Reply>& reply) { return reply ? std::get<std::string>(reply->body) : "failed"; }

} // namespace

void TestKeptAnswers::init()
{
    m_dir = std::make_unique<QTemporaryDir>();
    m_database = open();
    m_answers = std::make_unique<KeptAnswers>(*m_database, m_clock, std::chrono::milliseconds(200));
    m_executed = 0;
}

void TestKeptAnswers::cleanup()
{
    m_answers.reset();
    m_database.reset();
}

#define EXECUTE(kind_)                                                                                                 \
    [&]() -> Answer {                                                                                                  \
        return {{201, {{"ETag", "\"7\""}}, "answer " + std::to_string(++m_executed)}, Answer::Kind::kind_};            \
    }

void TestKeptAnswers::theSameRequestIsExecutedOnce()
{
    const auto first = m_answers->answer(keyed(), EXECUTE(Deterministic));
    const auto second = m_answers->answer(keyed(), EXECUTE(Deterministic));
    ASSAY_OK(second);
    QCOMPARE(m_executed, 1);
    QCOMPARE(bodyOf(second), bodyOf(first));
    QCOMPARE(second->status, 201);
    QCOMPARE(second->headers, first->headers);
}

void TestKeptAnswers::anotherBodyIsAConflict()
{
    ASSAY_OK(m_answers->answer(keyed("{}"), EXECUTE(Deterministic)));
    ASSAY_FAILS(m_answers->answer(keyed("{ }"), EXECUTE(Deterministic)), ErrorCode::Conflict);
    QCOMPARE(m_executed, 1);
}

void TestKeptAnswers::scopesPeopleRoutesAndKeysAreKeptApart()
{
    ASSAY_OK(m_answers->answer(keyed(), EXECUTE(Deterministic)));
    for (auto change :
         {+[](KeyedRequest& r) { r.scopeFingerprint = "sc_b"; }, +[](KeyedRequest& r) { r.route = "POST /v1/agents"; },
          +[](KeyedRequest& r) { r.key = "KEY"; }, +[](KeyedRequest& r) { r.principal = "bob"; }}) {
        KeyedRequest other = keyed("other body");
        change(other);
        ASSAY_OK(m_answers->answer(other, EXECUTE(Deterministic)));
    }
    QCOMPARE(m_executed, 5);
}

void TestKeptAnswers::passingFailuresAreAskedAnew()
{
    for (int i = 1; i <= 2; ++i) {
        const auto reply = m_answers->answer(keyed(), EXECUTE(Passing));
        ASSAY_OK(reply);
        QCOMPARE(m_executed, i);
    }
}

void TestKeptAnswers::answersEndAfterADay()
{
    ASSAY_OK(m_answers->answer(keyed(), EXECUTE(Deterministic)));
    m_clock.advance(std::chrono::hours(24) - std::chrono::milliseconds(1));
    ASSAY_OK(m_answers->answer(keyed(), EXECUTE(Deterministic)));
    QCOMPARE(m_executed, 1);
    m_clock.advance(std::chrono::milliseconds(2));
    ASSAY_OK(m_answers->answer(keyed("other"), EXECUTE(Deterministic)));
    QCOMPARE(m_executed, 2);
}

void TestKeptAnswers::ofConcurrentRequestsOneExecutes()
{
    std::atomic<int> executed = 0;
    std::atomic<int> same = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 16; ++i)
            threads.emplace_back([&] {
                const auto reply = m_answers->answer(keyed(), [&]() -> Answer {
                    std::this_thread::sleep_for(std::chrono::milliseconds(5));
                    return {{201, {}, std::to_string(++executed)}, Answer::Kind::Deterministic};
                });
                same += bodyOf(reply) == "1";
            });
    }
    QCOMPARE(executed.load(), 1);
    QCOMPARE(same.load(), 16);
}

void TestKeptAnswers::theSecondWaitsOnlySoLong()
{
    std::latch started(1);
    std::latch finish(1);
    std::jthread first([&] {
        (void)m_answers->answer(keyed(), [&]() -> Answer {
            started.count_down();
            finish.wait();
            return {{201, {}, "late"}, Answer::Kind::Deterministic};
        });
    });
    started.wait();
    const auto second = m_answers->answer(keyed(), EXECUTE(Deterministic));
    finish.count_down();
    ASSAY_FAILS(second, ErrorCode::Conflict);
    QCOMPARE(m_executed, 0);
}

void TestKeptAnswers::secretsAreNotInTheDatabase()
{
    KeyedRequest request = keyed();
    request.sealKey = Digest::ofBytes("caller");
    ASSAY_OK(m_answers->answer(request, [&]() -> Answer {
        return {{201, {}, "{\"secret\":\"assay_unmistakable\"}"}, Answer::Kind::Deterministic};
    }));
    m_database.reset();
    for (const QFileInfo& file : QDir(m_dir->path()).entryInfoList(QDir::Files)) {
        QFile opened(file.filePath());
        QVERIFY(opened.open(QIODevice::ReadOnly));
        QVERIFY2(!opened.readAll().contains("unmistakable"), qPrintable(file.fileName()));
    }
}

void TestKeptAnswers::aSealedAnswerOpensForItsCallerOnly()
{
    KeyedRequest request = keyed();
    request.sealKey = Digest::ofBytes("caller");
    ASSAY_OK(m_answers->answer(request, EXECUTE(Deterministic)));
    QCOMPARE(bodyOf(m_answers->answer(request, EXECUTE(Deterministic))), "answer 1");
    request.sealKey = Digest::ofBytes("another caller");
    ASSAY_FAILS(m_answers->answer(request, EXECUTE(Deterministic)), ErrorCode::Conflict);
    QCOMPARE(m_executed, 1);
}

void TestKeptAnswers::answersSurviveARestart()
{
    ASSAY_OK(m_answers->answer(keyed(), EXECUTE(Deterministic)));
    m_answers.reset();
    m_database.reset();
    m_database = open();
    m_answers = std::make_unique<KeptAnswers>(*m_database, m_clock);
    QCOMPARE(bodyOf(m_answers->answer(keyed(), EXECUTE(Deterministic))), "answer 1");
}

void TestKeptAnswers::aRequestThatACrashCutOffIsNotExecutedAgain()
{
    // What a crash leaves: the server never came back from the operation.
    QVERIFY_THROWS_EXCEPTION(std::runtime_error,
                             (void)m_answers->answer(keyed(), []() -> Answer { throw std::runtime_error("killed"); }));
    const auto repeated = m_answers->answer(keyed(), EXECUTE(Deterministic));
    ASSAY_FAILS(repeated, ErrorCode::Conflict);
    QVERIFY(repeated.error().message.contains("interrupted"));
    ASSAY_FAILS(m_answers->answer(keyed("{ }"), EXECUTE(Deterministic)), ErrorCode::Conflict);
    QCOMPARE(m_executed, 0);
    m_clock.advance(std::chrono::hours(25));
    ASSAY_OK(m_answers->answer(keyed(), EXECUTE(Deterministic)));
    QCOMPARE(m_executed, 1);
}

QTEST_APPLESS_MAIN(TestKeptAnswers)
#include "tst_kept_answers.moc"
