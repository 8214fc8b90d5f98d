// SPDX-License-Identifier: Apache-2.0
#include "server/runs/event_log.h"
#include "tests/support/test_support.h"

#include <semaphore>
#include <thread>

using namespace assay;
using namespace assay::runs;

class TestEventLog : public QObject
{
    Q_OBJECT

private slots:
    void numbersEventsFromOne();
    void resumesAfterAnId();
    void aLiveReaderSeesTheEndOnlyWhenItIsPublished();
    void storedAndLiveReadAlike();
    void notifiesOnceForMore();
    void notifiesAtOnceWhenThereIsMore();
    void aDestroyedCursorIsNotNotified();
    void countsOutputAboveItsCap();
    void refusesStoredTextThatIsNotOfTheForm();
    void readersLoseAndRepeatNothing();
};

namespace {

std::vector<std::uint64_t> idsOf(const EventCursor::Batch& batch)
{
    std::vector<std::uint64_t> out;
    for (const auto& event : batch.events)
        out.push_back(event.id);
    return out;
}

} // namespace

void TestEventLog::numbersEventsFromOne()
{
    const auto log = std::make_shared<EventLog>();
    log->append("phase", "{}");
    log->append("command", "{\"a\":1}");
    const auto batch = log->cursor(0)->read(10);
    QCOMPARE(idsOf(batch), (std::vector<std::uint64_t>{1, 2}));
    QCOMPARE(batch.events[1].data, "{\"a\":1}");
    QVERIFY(!batch.ended);
}

void TestEventLog::resumesAfterAnId()
{
    const auto log = std::make_shared<EventLog>();
    for (int i = 0; i < 5; ++i)
        log->append("phase", "{}");
    const auto cursor = log->cursor(2);
    QCOMPARE(idsOf(cursor->read(2)), (std::vector<std::uint64_t>{3, 4}));
    QCOMPARE(idsOf(cursor->read(2)), (std::vector<std::uint64_t>{5}));
    const auto beyond = log->cursor(99);
    QVERIFY(beyond->read(5).events.empty());
    (void)log->prepareEnd("{}");
    log->publishEnd();
    QVERIFY(beyond->read(5).ended);
}

void TestEventLog::aLiveReaderSeesTheEndOnlyWhenItIsPublished()
{
    const auto log = std::make_shared<EventLog>();
    const auto cursor = log->cursor(0);
    log->append("phase", "{}");
    QCOMPARE(log->prepareEnd("{\"state\":\"succeeded\"}"), "phase {}\nend {\"state\":\"succeeded\"}\n");
    log->append("phase", "{}"); // too late
    auto batch = cursor->read(10);
    QCOMPARE(batch.events.size(), 1U);
    QVERIFY(!batch.ended);
    log->publishEnd();
    batch = cursor->read(10);
    QCOMPARE(idsOf(batch), std::vector<std::uint64_t>{2});
    QVERIFY(batch.ended);
}

void TestEventLog::storedAndLiveReadAlike()
{
    const auto log = std::make_shared<EventLog>();
    log->append("phase", "{\"name\":\"a b\"}");
    log->append("output", "{}", EventLog::Kind::Output);
    const auto text = log->prepareEnd("{}");
    log->publishEnd();
    const auto stored = EventLog::fromText(text);
    ASSAY_OK(stored);
    const auto live = log->cursor(1)->read(10);
    const auto later = (*stored)->cursor(1)->read(10);
    QCOMPARE(later.events.size(), live.events.size());
    for (std::size_t i = 0; i < live.events.size(); ++i) {
        QCOMPARE(later.events[i].id, live.events[i].id);
        QCOMPARE(later.events[i].type, live.events[i].type);
        QCOMPARE(later.events[i].data, live.events[i].data);
    }
    QVERIFY(later.ended && live.ended);
}

void TestEventLog::notifiesOnceForMore()
{
    const auto log = std::make_shared<EventLog>();
    const auto cursor = log->cursor(0);
    int calls = 0;
    cursor->onReady([&] { ++calls; });
    QCOMPARE(calls, 0);
    log->append("phase", "{}");
    log->append("phase", "{}");
    QCOMPARE(calls, 1);
    QCOMPARE(cursor->read(10).events.size(), 2U);
    cursor->onReady([&] { ++calls; });
    (void)log->prepareEnd("{}");
    QCOMPARE(calls, 1);
    log->publishEnd();
    QCOMPARE(calls, 2);
}

void TestEventLog::notifiesAtOnceWhenThereIsMore()
{
    const auto log = std::make_shared<EventLog>();
    log->append("phase", "{}");
    int calls = 0;
    const auto cursor = log->cursor(0);
    cursor->onReady([&] { ++calls; });
    QCOMPARE(calls, 1);
}

void TestEventLog::aDestroyedCursorIsNotNotified()
{
    const auto log = std::make_shared<EventLog>();
    int calls = 0;
    log->cursor(0)->onReady([&] { ++calls; });
    log->append("phase", "{}");
    QCOMPARE(calls, 0);
}

void TestEventLog::countsOutputAboveItsCap()
{
    const auto log = std::make_shared<EventLog>();
    const std::string piece(64 << 10, 'a');
    const auto fitting = EventLog::kMaxOutputBytes / piece.size();
    for (std::size_t i = 0; i < fitting + 3; ++i)
        log->append("output", piece, EventLog::Kind::Output);
    log->append("command", "{}");
    (void)log->prepareEnd("{}");
    log->publishEnd();
    const auto batch = log->cursor(fitting)->read(10);
    QCOMPARE(batch.events.size(), 3U);
    QCOMPARE(batch.events[0].type, "command");
    QCOMPARE(batch.events[1].type, "output_omitted");
    QCOMPARE(batch.events[1].data, "{\"events\":3}");
    QCOMPARE(batch.events[2].type, "end");
}

void TestEventLog::refusesStoredTextThatIsNotOfTheForm()
{
    for (const char* bad : {"x", "x\n", "phase {}", "phase {}\nend"})
        ASSAY_FAILS(EventLog::fromText(bad), ErrorCode::Internal);
    ASSAY_OK(EventLog::fromText(""));
}

void TestEventLog::readersLoseAndRepeatNothing()
{
    constexpr std::uint64_t kEvents = 20'000;
    const auto log = std::make_shared<EventLog>();
    std::jthread writer([&] {
        for (std::uint64_t i = 1; i < kEvents; ++i)
            log->append("output", std::to_string(i), EventLog::Kind::Output);
        (void)log->prepareEnd(std::to_string(kEvents));
        log->publishEnd();
    });
    std::uint64_t next = 1;
    auto cursor = log->cursor(0);
    for (bool ended = false; !ended;) {
        std::binary_semaphore ready(0);
        cursor->onReady([&] { ready.release(); });
        QVERIFY(ready.try_acquire_for(std::chrono::seconds(20)));
        const auto batch = cursor->read(7);
        for (const auto& event : batch.events) {
            QCOMPARE(event.id, next);
            QCOMPARE(event.data, std::to_string(next));
            ++next;
        }
        ended = batch.ended;
        if (next % 64 == 0)
            cursor = log->cursor(next - 1); // a reader that comes again
    }
    QCOMPARE(next, kEvents + 1);
}

QTEST_APPLESS_MAIN(TestEventLog)
#include "tst_event_log.moc"
