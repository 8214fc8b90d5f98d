// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/database.h"
#include "tests/support/test_support.h"

#include <QTemporaryDir>

namespace assay::test {

/// A database in a folder of its own that goes away with the test.
class StoreFixture
{
public:
    std::filesystem::path path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    std::filesystem::path file() const { return path("assay.db"); }

    store::Database& open(unsigned maxWaiting = 4096)
    {
        m_database.reset();
        auto opened = store::Database::open({.file = file(), .maxWaiting = maxWaiting});
        if (!opened)
            qFatal("open: %s", explain(opened).constData());
        m_database = std::move(*opened);
        return *m_database;
    }
    void close() { m_database.reset(); }

private:
    QTemporaryDir m_folder;
    std::unique_ptr<store::Database> m_database;
};

inline constexpr const char* kScopeA = "sc_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
inline constexpr const char* kScopeB = "sc_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

} // namespace assay::test
