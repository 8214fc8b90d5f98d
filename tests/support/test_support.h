// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/error.h"

#include <QByteArray>
#include <QFileInfo>
#include <QString>
#include <QtTest>

#include <atomic>
#include <cstdlib>
#include <string>

namespace assay::test {

/// A clock that stands still until it is moved. Thread-safe.
class FakeClock final : public Clock
{
public:
    Timestamp now() const override { return Timestamp(std::chrono::milliseconds(m_milliseconds.load())); }
    std::chrono::steady_clock::time_point steadyNow() const override
    {
        return std::chrono::steady_clock::time_point(std::chrono::milliseconds(m_milliseconds.load()));
    }
    void advance(std::chrono::milliseconds by) { m_milliseconds += by.count(); }

private:
    std::atomic<std::int64_t> m_milliseconds{1'795'000'000'000};
};

/// The shared test data, or empty where this machine has none (then `QSKIP` with that reason). ASSAY_VECTORS overrides.
inline QString vectorsDirectory()
{
    const char* named = std::getenv("ASSAY_VECTORS");
    const QString path = named ? QString::fromLocal8Bit(named) : QStringLiteral(ASSAY_SOURCE_DIR "/../shared/vectors");
    return QFileInfo(path).isDir() ? path : QString();
}

/// What `QVERIFY2` prints for a failed result.
template <typename T> QByteArray explain(const Result<T>& result)
{
    if (result)
        return "succeeded";
    const Error& error = result.error();
    return QByteArray::fromStdString(std::string(traits(error.code).code) + ": " + error.message + " [" + error.detail +
                                     "] " + error.reason);
}

} // namespace assay::test

/// Fails the test unless `result` holds a value. The expression is evaluated once.
#define ASSAY_OK(result)                                                                                               \
    do {                                                                                                               \
        const auto& assayOkResult = (result);                                                                          \
        QVERIFY2(assayOkResult.has_value(), assay::test::explain(assayOkResult).constData());                          \
    } while (false)
/// Fails the test unless `result` holds an error of `errorCode`. The expression is evaluated once.
#define ASSAY_FAILS(result, errorCode)                                                                                 \
    do {                                                                                                               \
        const auto& assayFailedResult = (result);                                                                      \
        QVERIFY2(!assayFailedResult.has_value() && assayFailedResult.error().code == (errorCode),                      \
                 assay::test::explain(assayFailedResult).constData());                                                 \
    } while (false)
