// SPDX-License-Identifier: Apache-2.0
#include "server/store/startup_check.h"

#include <sqlite3.h>
#include <string>

namespace assay::store {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

int isOver(void* deadline) { return std::chrono::steady_clock::now() >= *static_cast<SteadyTime*>(deadline) ? 1 : 0; }

Result<std::string> firstFinding(Connection& connection)
{
    auto query = connection.prepare("PRAGMA quick_check(1)");
    if (!query)
        return forward(query);
    const auto row = query->step();
    if (row)
        return std::string(query->text(0));
    const int status = sqlite3_errcode(connection.handle());
    if (status == SQLITE_INTERRUPT)
        return std::string("ok");
    return status == SQLITE_CORRUPT || status == SQLITE_NOTADB ? std::string(row.error().detail)
                                                               : Result<std::string>(std::unexpected(row.error()));
}

} // namespace

Result<void> checkIntegrity(Connection& connection, std::chrono::milliseconds budget)
{
    constexpr int kStepsBetweenLooks = 200;
    SteadyTime deadline = std::chrono::steady_clock::now() + budget;
    sqlite3_progress_handler(connection.handle(), kStepsBetweenLooks, isOver, &deadline);
    const auto finding = firstFinding(connection);
    sqlite3_progress_handler(connection.handle(), 0, nullptr, nullptr);
    if (!finding)
        return std::unexpected(finding.error());
    if (*finding == "ok")
        return {};
    return fail(ErrorCode::Unavailable,
                "the database is damaged and the server does not start with it; restore the last backup", *finding);
}

} // namespace assay::store
