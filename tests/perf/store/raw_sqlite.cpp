// SPDX-License-Identifier: Apache-2.0
#include "server/core/random.h"
#include "tests/perf/store/bench_parts.h"

#include <sqlite3.h>

namespace assay::bench {

double rawSqliteRate(const std::filesystem::path& file, std::size_t bytes, unsigned rowsPerCommit, double seconds)
{
    sqlite3* database = nullptr;
    sqlite3_open(file.c_str(), &database);
    sqlite3_exec(database,
                 "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB)",
                 nullptr, nullptr, nullptr);
    sqlite3_stmt* insert = nullptr;
    sqlite3_prepare_v2(database, "INSERT INTO t(b) VALUES(?)", -1, &insert, nullptr);
    const std::string content = randomBytes(bytes);
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t rows = 0;
    std::chrono::duration<double> passed{};
    while (passed.count() < seconds) {
        sqlite3_exec(database, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
        for (unsigned i = 0; i < rowsPerCommit; ++i) {
            sqlite3_bind_blob(insert, 1, content.data(), static_cast<int>(content.size()), SQLITE_STATIC);
            sqlite3_step(insert);
            sqlite3_reset(insert);
        }
        sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr);
        rows += rowsPerCommit;
        passed = std::chrono::steady_clock::now() - start;
    }
    sqlite3_finalize(insert);
    sqlite3_close(database);
    return static_cast<double>(rows) / passed.count();
}

} // namespace assay::bench
