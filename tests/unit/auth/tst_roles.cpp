// SPDX-License-Identifier: Apache-2.0
#include "server/auth/roles.h"
#include "tests/support/test_support.h"

using namespace assay;
using namespace assay::auth;

class TestRoles : public QObject
{
    Q_OBJECT

private slots:
    void namesRoundTrip();
    void refusesUnknownRepeatedAndNone();
    void readsTheHeader();
    void theOperatorIsNoReader();
};

void TestRoles::namesRoundTrip()
{
    for (std::uint8_t bits = 1; bits < 32; ++bits)
        QCOMPARE(rolesNamed(roleNames(Roles(bits))).value(), Roles(bits));
    QCOMPARE(roleNames(kEveryRole).size(), 5U);
    QVERIFY(roleNames(Roles()).empty());
}

void TestRoles::refusesUnknownRepeatedAndNone()
{
    ASSAY_FAILS(rolesNamed({}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(rolesNamed({"Viewer"}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(rolesNamed({"admin"}), ErrorCode::InvalidArgument);
    ASSAY_FAILS(rolesNamed({"viewer", "viewer"}), ErrorCode::InvalidArgument);
}

void TestRoles::readsTheHeader()
{
    QCOMPARE(readRoleList("viewer").value(), Roles(Role::Viewer));
    QCOMPARE(readRoleList(" builder ,\trunner").value(), Roles(Role::Builder) | Role::Runner);
    for (const char* bad : {"", ",", "viewer,", "viewer;runner", "viewer runner", "viewer,viewer", "viewer,,runner"})
        ASSAY_FAILS(readRoleList(bad), ErrorCode::InvalidArgument);
    ASSAY_FAILS(readRoleList(std::string(100'000, ',')), ErrorCode::InvalidArgument);
}

void TestRoles::theOperatorIsNoReader()
{
    QVERIFY(!kReaders.contains(Role::Operator));
    QVERIFY(!kReaders.intersects(Role::Operator));
    QVERIFY(kEveryRole.contains(Role::Operator));
}

QTEST_APPLESS_MAIN(TestRoles)
#include "tst_roles.moc"
