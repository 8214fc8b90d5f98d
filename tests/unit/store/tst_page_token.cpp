// SPDX-License-Identifier: Apache-2.0
#include "server/store/page_token.h"
#include "tests/support/test_support.h"

using namespace assay;
using namespace assay::store;

class TestPageToken : public QObject
{
    Q_OBJECT

private slots:
    void roundTrips();
    void belongsToOneListOfOneScope();
};

void TestPageToken::roundTrips()
{
    const ListIdentity list{"skills", "sc_a", {"q", ""}};
    for (const std::string& cursor : {std::string("a"), std::string("\0\xff", 2), std::string(300, 'x')})
        QCOMPARE(readPageToken(list, makePageToken(list, cursor)).value(), cursor);
    QCOMPARE(readPageToken(list, "").value(), "");
}

void TestPageToken::belongsToOneListOfOneScope()
{
    const std::string token = makePageToken({"skills", "sc_a", {"ab", "c"}}, "cursor");
    for (const ListIdentity& other :
         {ListIdentity{"skills", "sc_b", {"ab", "c"}}, ListIdentity{"agents", "sc_a", {"ab", "c"}},
          ListIdentity{"skills", "sc_a", {"a", "bc"}}, ListIdentity{"skills", "sc_a", {"ab"}}}) {
        const auto refused = readPageToken(other, token);
        ASSAY_FAILS(refused, ErrorCode::InvalidArgument);
        QCOMPARE(refused.error().problems.at(0).pointer, "/page_token");
    }
}

QTEST_GUILESS_MAIN(TestPageToken)
#include "tst_page_token.moc"
