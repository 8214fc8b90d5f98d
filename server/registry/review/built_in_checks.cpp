// SPDX-License-Identifier: Apache-2.0
#include "server/registry/review/built_in_checks.h"

#include "server/registry/review/test_run_check.h"
#include "server/registry/stored_form.h"
#include "server/store/review_mark_table.h"

#include <format>

namespace assay::review {

namespace {

/// What is stored has passed the package's rules; only damage can take that away.
class PackageValid final : public Check
{
public:
    std::string_view id() const override { return "package_valid"; }
    Result<Verdict> judge(store::Connection&, const CheckSubject& subject) const override
    {
        if (!subject.revision.digest)
            return Verdict{State::Fail, "the stored digest of this revision is damaged; publish the content again"};
        return Verdict{State::Pass, "the package passed every rule when it was published"};
    }
};

class Lints final : public Check
{
public:
    std::string_view id() const override { return "lints"; }
    Result<Verdict> judge(store::Connection&, const CheckSubject& subject) const override
    {
        const auto lints = registry::readProblems(subject.revision.lints);
        if (lints.empty())
            return Verdict{State::Pass, "no lint"};
        return Verdict{State::Warn, std::format("{} {}, the first: {}", lints.size(),
                                                lints.size() == 1 ? "lint" : "lints", lints.front().message)};
    }
};

/// Someone else than the publisher has seen what this digest can newly do against what is current.
class CapabilitiesReviewed final : public Check
{
public:
    std::string_view id() const override { return "capabilities_reviewed"; }
    Result<Verdict> judge(store::Connection& connection, const CheckSubject& subject) const override
    {
        auto people =
            store::ReviewMarkTable(connection)
                .acknowledgedBy(subject.scope, subject.skill, subject.revision.digest.value_or(Digest()), subject.base);
        if (!people)
            return forward(people);
        std::erase(*people, subject.revision.publisher);
        if (people->empty())
            return Verdict{State::Pending, "no reviewer has acknowledged yet what this digest can newly do"};
        return Verdict{State::Pass, "what this digest can newly do was acknowledged by " + people->front()};
    }
};

} // namespace

std::vector<std::unique_ptr<Check>> builtInChecks()
{
    std::vector<std::unique_ptr<Check>> out;
    out.push_back(std::make_unique<PackageValid>());
    out.push_back(std::make_unique<Lints>());
    out.push_back(std::make_unique<CapabilitiesReviewed>());
    out.push_back(std::make_unique<TestRunCheck>());
    return out;
}

} // namespace assay::review
