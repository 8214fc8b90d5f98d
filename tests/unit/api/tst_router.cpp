// SPDX-License-Identifier: Apache-2.0
#include "server/api/router.h"
#include "tests/support/test_support.h"

using namespace assay;
using namespace assay::api;

class TestRouter : public QObject
{
    Q_OBJECT

private slots:
    void findsByMethodAndTemplate();
    void literalsWinOverParameters();
    void theRestTakesSlashes();
    void namesTheMethodsThatThereAre();
    void refusesEmptySegments();
};

namespace {

Result<Reply> nothing(const Services&, Request&) { return Reply{}; }

constexpr Route kRoutes[] = {
    {Method::Get, "/v1/things", {}, nothing},
    {Method::Get, "/v1/things/{name}", {}, nothing},
    {Method::Put, "/v1/things/{name}", {}, nothing},
    {Method::Post, "/v1/things/check", {}, nothing},
    {Method::Get, "/v1/things/{name}/files", {}, nothing},
    {Method::Get, "/v1/things/{name}/files/{path...}", {}, nothing},
};

std::string routeOf(const Router::Match& match) { return match.route ? std::string(match.route->path) : "none"; }

} // namespace

void TestRouter::findsByMethodAndTemplate()
{
    const Router router(kRoutes);
    QCOMPARE(routeOf(router.find(Method::Get, {"v1", "things"})), "/v1/things");
    const auto one = router.find(Method::Put, {"v1", "things", "a b"});
    QCOMPARE(routeOf(one), "/v1/things/{name}");
    QCOMPARE(one.parameters, std::vector<std::string>{"a b"});
    QCOMPARE(routeOf(router.find(Method::Head, {"v1", "things"})), "/v1/things");
    QCOMPARE(routeOf(router.find(Method::Get, {"v1"})), "none");
    QCOMPARE(routeOf(router.find(Method::Get, {})), "none");
    QCOMPARE(routeOf(router.find(Method::Get, {"v1", "things", "a", "b"})), "none");
    QCOMPARE(routeOf(router.find(Method::Get, {"V1", "things"})), "none");
}

void TestRouter::literalsWinOverParameters()
{
    const Router router(kRoutes);
    QCOMPARE(routeOf(router.find(Method::Post, {"v1", "things", "check"})), "/v1/things/check");
    QCOMPARE(routeOf(router.find(Method::Get, {"v1", "things", "check"})), "/v1/things/{name}");
}

void TestRouter::theRestTakesSlashes()
{
    const Router router(kRoutes);
    const auto match = router.find(Method::Get, {"v1", "things", "a", "files", "scripts", "x/y.py"});
    QCOMPARE(match.parameters, (std::vector<std::string>{"a", "scripts/x/y.py"}));
    QCOMPARE(routeOf(router.find(Method::Get, {"v1", "things", "a", "files"})), "/v1/things/{name}/files");
}

void TestRouter::namesTheMethodsThatThereAre()
{
    const Router router(kRoutes);
    QCOMPARE(router.find(Method::Delete, {"v1", "things", "check"}).allow, "GET, HEAD, POST, PUT");
    QCOMPARE(router.find(Method::Post, {"v1", "things"}).allow, "GET, HEAD");
    QVERIFY(router.find(Method::Post, {"v1", "nothing"}).allow.empty());
}

void TestRouter::refusesEmptySegments()
{
    const Router router(kRoutes);
    QCOMPARE(routeOf(router.find(Method::Get, {"v1", "things", ""})), "none");
    QCOMPARE(routeOf(router.find(Method::Get, {"", "things"})), "none");
    QCOMPARE(routeOf(router.find(Method::Get, {"v1", "things", "a", "files", ""})), "none");
}

QTEST_APPLESS_MAIN(TestRouter)
#include "tst_router.moc"
