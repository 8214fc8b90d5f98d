// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/sample.h"
#include "server/registry/review/checks.h"

namespace assay::review {

/// Whether the output is what a sample expects: equal as JSON (members in any order, 1 equals 1.0), or, when a string
/// is expected, byte for byte. Pure.
bool isExpectedOutput(const json::value& expected, std::string_view output);

/// `test_run`: passes when the newest run of every saved sample, made with exactly this digest and the sample as it is
/// now, ended as the sample expects (exit status 0 unless it says so). Thread-safe.
class TestRunCheck final : public Check
{
public:
    std::string_view id() const override { return "test_run"; }
    Result<Verdict> judge(store::Connection& connection, const CheckSubject& subject) const override;
};

} // namespace assay::review
