// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace assay::runs {

/// Writes the files of a package's canonical stream (docs/package-format.md), which comes in pieces of any size, below
/// the open folder `directory`, which must be empty: files 0444 or 0555, folders 0555, whatever the umask. Every folder
/// is made and entered through a held descriptor without following links; a path that is not safe or comes twice ends
/// it. `Internal` for a stream that is not of the form. After an error the folder holds a part and must be thrown away.
/// One thread at a time.
class TreeWriter
{
public:
    explicit TreeWriter(int directory);
    ~TreeWriter();
    TreeWriter(const TreeWriter&) = delete;
    TreeWriter& operator=(const TreeWriter&) = delete;

    Result<void> add(std::string_view piece);
    /// Seals the folders: the number of bytes in the files.
    Result<std::uint64_t> finish();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

/// The same for a stream that is there as a whole.
Result<std::uint64_t> writeTree(int directory, std::string_view canonicalStream);

/// Removes everything below `name` in the folder `parent`, sealed folders too, without following links. What is not
/// there is no error.
Result<void> removeTree(int parent, const char* name);

} // namespace assay::runs
