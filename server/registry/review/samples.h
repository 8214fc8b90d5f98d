// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/ledger.h"
#include "server/auth/identity.h"
#include "server/contract/sample.h"
#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/database.h"
#include "server/store/sample_table.h"

namespace assay::review {

/// A saved sample with the version that its runs are bound to.
struct SavedSample
{
    contract::Sample sample;
    std::uint64_t version = 0;
};

/// Saved inputs of a skill's scripts, what ran on them, and comparisons, in one exact scope. Another scope's skill is
/// `NotFound` like a missing one. Thread-safe; calls block.
class Samples
{
public:
    static constexpr std::size_t kMaxSamples = 50;         ///< of one skill
    static constexpr std::size_t kMaxBytes = 256ULL << 10; ///< of one sample, as JSON

    Samples(store::Database& database, const Clock& clock) : m_database(database), m_clock(clock) {}

    /// In the order of names, all of them.
    Result<std::vector<contract::Sample>> list(const auth::Identity& by, std::string_view skill);
    Result<contract::Sample> find(const auth::Identity& by, std::string_view skill, std::string_view name);
    struct Saved
    {
        contract::Sample sample;
        bool created = false;
    };
    /// Creates or replaces; a changed one needs new runs to count for the check `test_run`. The name is 1 to 64 of
    /// `a-z 0-9 -`, without an edge or double hyphen.
    Result<Saved> put(const auth::Identity& by, std::string_view skill, std::string_view name,
                      const contract::PutSample& sample, bool createOnly, const std::optional<std::string>& ifMatch);
    Result<void> remove(const auth::Identity& by, std::string_view skill, std::string_view name,
                        const std::optional<std::string>& ifMatch);

    /// With their versions, for who runs them.
    Result<std::vector<SavedSample>> saved(const auth::Identity& by, std::string_view skill);
    /// That `run` was made of the sample with exactly the revision of `digest`.
    Result<void> ran(const auth::Identity& by, std::string_view skill, const Digest& digest, const SavedSample& sample,
                     std::string_view run);

    Result<void> addComparison(const auth::Identity& by, const store::ComparisonRow& row);
    Result<store::ComparisonRow> comparison(const auth::Identity& by, std::string_view skill, std::string_view id);

private:
    store::Database& m_database;
    const Clock& m_clock;
    audit::Ledger m_ledger{m_database, m_clock};
};

/// Reads a stored sample; `Internal` when it is damaged.
Result<SavedSample> makeSample(const store::SampleRow& row);

} // namespace assay::review
