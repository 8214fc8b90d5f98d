// SPDX-License-Identifier: Apache-2.0
#include "server/retention/row_kinds.h"

namespace assay::retention {

using store::Cutoffs;
using store::ExpiredRow;
using store::ExpiredRows;

RowKind expiredRuns(const std::string& scope, const Cutoffs& cutoffs)
{
    return {.list = [=](ExpiredRows& rows,
                        const ExpiredRow* after) { return rows.runs(scope, cutoffs.runs, after, kListedRows); },
            .remove = [=](ExpiredRows& rows,
                          const ExpiredRow& row) { return rows.removeRun(scope, row.key, cutoffs.runs); }};
}

RowKind expiredArtifacts(const std::string& scope, const Cutoffs& cutoffs)
{
    return {
        .list = [=](ExpiredRows& rows,
                    const ExpiredRow* after) { return rows.artifacts(scope, cutoffs.artifacts, after, kListedRows); },
        .remove = [=](ExpiredRows& rows,
                      const ExpiredRow& row) { return rows.removeArtifact(scope, row.key, cutoffs.artifacts); }};
}

RowKind expiredRevisions(const std::string& scope, const Cutoffs& cutoffs)
{
    return {.list = [=](ExpiredRows& rows,
                        const ExpiredRow* after) { return rows.revisions(scope, cutoffs, after, kListedRows); },
            .remove = [=](ExpiredRows& rows,
                          const ExpiredRow& row) { return rows.removeRevision(scope, row.key, cutoffs.revisions); }};
}

RowKind expiredSkills(const std::string& scope, const Cutoffs& cutoffs)
{
    return {.list = [=](ExpiredRows& rows,
                        const ExpiredRow* after) { return rows.skills(scope, cutoffs, after, kListedRows); },
            .remove = [=](ExpiredRows& rows,
                          const ExpiredRow& row) { return rows.removeSkill(scope, row.key, cutoffs.revisions); }};
}

} // namespace assay::retention
