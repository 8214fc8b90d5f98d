// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/digest.h"
#include "server/store/connection.h"

#include <vector>

namespace assay::store {

/// A saved input of a skill; `definition` is JSON of the registry's own form.
struct SampleRow
{
    std::string name;
    std::uint64_t version = 1; ///< grows with every change
    std::string author;
    Timestamp createdAt;
    Timestamp updatedAt;
    std::string definition;
};

/// A run that was made of a sample with exactly the revision of `digest`.
struct SampleRunRow
{
    Digest digest;
    std::string sample;
    std::string run;
    std::uint64_t sampleVersion = 0;
    std::string startedBy;
    Timestamp startedAt;
};

/// Two runs of two revisions on one input.
struct ComparisonRow
{
    std::string id; ///< "cmp_..."
    std::string skill;
    std::string sample; ///< empty: an input of its own
    std::string fromRevision;
    std::string fromRun;
    std::string toRevision;
    std::string toRun;
    std::string startedBy;
    Timestamp startedAt;
};

/// The SQL of `skill_samples`, `sample_runs` and `comparisons`, one exact scope at a time. Confined to its connection.
class SampleTable
{
public:
    explicit SampleTable(Connection& connection) : m_connection(connection) {}

    Result<std::optional<SampleRow>> find(std::string_view fingerprint, std::string_view skill, std::string_view name);
    /// Inserts, or replaces all but author and `createdAt`.
    Result<void> put(std::string_view fingerprint, std::string_view skill, const SampleRow& row);
    /// With what is known of its runs: a later sample of the name counts its versions anew.
    Result<bool> remove(std::string_view fingerprint, std::string_view skill, std::string_view name);
    /// In the order of names; a skill has few.
    Result<std::vector<SampleRow>> list(std::string_view fingerprint, std::string_view skill);

    Result<void> addRun(std::string_view fingerprint, std::string_view skill, const SampleRunRow& row);
    /// The newest run of the sample with that digest.
    Result<std::optional<SampleRunRow>> newestRun(std::string_view fingerprint, std::string_view skill,
                                                  const Digest& digest, std::string_view sample);

    Result<void> insert(std::string_view fingerprint, const ComparisonRow& row);
    Result<std::optional<ComparisonRow>> comparison(std::string_view fingerprint, std::string_view id);

private:
    Connection& m_connection;
};

} // namespace assay::store
