// SPDX-License-Identifier: Apache-2.0
#include "server/api/request.h"
#include "tests/support/test_support.h"

using namespace assay;
using namespace assay::api;

class TestRequest : public QObject
{
    Q_OBJECT

private slots:
    void readsPages();
    void refusesPagesOutOfBounds();
    void readsFilters();
    void readsEventIds();
    void toleratesOnlyAnEmptyBody();
};

namespace {

Request with(std::map<std::string, std::string, std::less<>> query)
{
    Request request;
    request.query = std::move(query);
    return request;
}

} // namespace

void TestRequest::readsPages()
{
    QCOMPARE(pageOf(with({})).value().size, 50U);
    const auto page = pageOf(with({{"page_size", "200"}, {"page_token", "t"}}));
    ASSAY_OK(page);
    QCOMPARE(page->size, 200U);
    QCOMPARE(page->token, "t");
}

void TestRequest::refusesPagesOutOfBounds()
{
    for (const char* bad :
         {"", "0", "201", "-1", "+5", "1.0", "1e1", " 5", "5 ", "0x5", "NaN", "99999999999999999999", "4294967297"})
        ASSAY_FAILS(pageOf(with({{"page_size", bad}})), ErrorCode::InvalidArgument);
    ASSAY_FAILS(pageOf(with({{"page_token", std::string(513, 't')}})), ErrorCode::InvalidArgument);
}

void TestRequest::readsFilters()
{
    constexpr std::array<std::string_view, 2> choices{"a", "b"};
    QCOMPARE(queryFlag(with({{"f", "true"}}), "f").value(), std::optional(true));
    QCOMPARE(queryFlag(with({}), "f").value(), std::optional<bool>());
    for (const char* bad : {"", "1", "True", "yes"})
        ASSAY_FAILS(queryFlag(with({{"f", bad}}), "f"), ErrorCode::InvalidArgument);
    QCOMPARE(queryChoice(with({{"c", "b"}}), "c", choices).value(), "b");
    ASSAY_FAILS(queryChoice(with({{"c", "B"}}), "c", choices), ErrorCode::InvalidArgument);
    ASSAY_FAILS(queryChoice(with({{"c", ""}}), "c", choices), ErrorCode::InvalidArgument);
    ASSAY_OK(queryTime(with({{"t", "2026-11-30T12:00:00+01:00"}}), "t"));
    ASSAY_FAILS(queryTime(with({{"t", "now"}}), "t"), ErrorCode::InvalidArgument);
}

void TestRequest::readsEventIds()
{
    Request request;
    QCOMPARE(lastEventId(request).value(), 0U);
    request.head.headers["last-event-id"] = "18446744073709551615";
    QCOMPARE(lastEventId(request).value(), UINT64_MAX);
    for (const char* bad : {"-1", "x", "18446744073709551616", "1.5", " 1"}) {
        request.head.headers["last-event-id"] = bad;
        ASSAY_FAILS(lastEventId(request), ErrorCode::InvalidArgument);
    }
}

void TestRequest::toleratesOnlyAnEmptyBody()
{
    Request request;
    ASSAY_OK(emptyBody(request));
    request.body.bytes = " {} ";
    ASSAY_OK(emptyBody(request));
    for (const char* bad : {"{\"a\":1}", "[]", "null", "x"}) {
        request.body.bytes = bad;
        ASSAY_FAILS(emptyBody(request), ErrorCode::InvalidArgument);
    }
}

QTEST_APPLESS_MAIN(TestRequest)
#include "tst_request.moc"
