// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/base/base_store.h"

#include <mutex>
#include <optional>

namespace assay::sandbox::base {

/// The base that new boxes start from: `selectBase`, asked again whenever a base was added or taken away since, so that
/// a base built beside a running server is used from the next run on. Runs that have pinned another keep that one.
/// Thread-safe.
class CurrentBase
{
public:
    explicit CurrentBase(std::filesystem::path dataDirectory) : m_dataDirectory(std::move(dataDirectory)) {}

    /// A look at one folder's times; milliseconds when something changed.
    Result<BaseRoot> get();

private:
    /// What changes when a name is added to the folder or removed from it; all zero while there is no folder.
    struct Stamp
    {
        std::uint64_t inode = 0;
        std::int64_t seconds = 0;
        std::int64_t nanoseconds = 0;
        bool operator==(const Stamp&) const = default;
    };
    Stamp stamp() const;

    const std::filesystem::path m_dataDirectory;
    std::mutex m_mutex;
    Stamp m_seen;
    std::optional<Result<BaseRoot>> m_selected;
};

} // namespace assay::sandbox::base
