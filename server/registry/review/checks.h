// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/review.h"
#include "server/store/revision_table.h"

#include <memory>

namespace assay::review {

/// What a check judges: one exact revision, and what it would replace.
struct CheckSubject
{
    std::string_view scope;
    std::string_view skill;
    const store::RevisionRow& revision;
    std::optional<Digest> base; ///< the current revision's digest; empty when none is current
};

/// One thing that is looked at before a revision becomes current. Judges what is stored, inside the caller's
/// transaction, so that a promotion and what it was judged by are one moment. Thread-safe; must not block for long.
class Check
{
public:
    virtual ~Check() = default;
    /// Stable: "package_valid", ... At most 64 bytes. Lives as long as the check.
    virtual std::string_view id() const = 0;
    enum class State : std::uint8_t { Pass, Fail, Warn, Pending, Unknown };
    struct Verdict
    {
        State state = State::Unknown;
        std::string summary; ///< one sentence: what was found, what to do
    };
    virtual Result<Verdict> judge(store::Connection& connection, const CheckSubject& subject) const = 0;
};

/// `Required`: only what decides, for who asks inside a write; others wait for it.
enum class JudgeWhat : std::uint8_t { Everything, Required };

/// The checks there are, in the order in which they are shown. Filled before the server serves; then thread-safe.
class CheckRegistry
{
public:
    /// With the built-in ones.
    CheckRegistry();
    /// A check of an id that is there replaces it.
    void add(std::unique_ptr<Check> check);
    bool has(std::string_view id) const;
    std::vector<std::string> ids() const;
    /// The verdict of each check, or of each required one. A required one that is not here is `unknown`, and so never
    /// passes.
    Result<std::vector<contract::CheckState>> judge(store::Connection& connection, const CheckSubject& subject,
                                                    const std::vector<std::string>& required,
                                                    JudgeWhat what = JudgeWhat::Everything) const;

private:
    std::vector<std::unique_ptr<Check>> m_checks;
};

} // namespace assay::review
