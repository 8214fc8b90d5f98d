// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::registry {

/// A YAML text in which surrogate pairs (`\ud83d\ude00`, as JSON writers escape) are written as one `\U0001f600`,
/// which libyaml reads. Remembers where, so that offsets still point into the text as it was sent.
class SurrogatePairs
{
public:
    explicit SurrogatePairs(std::string_view text) : m_text(text) {}

    const std::string& text() const { return m_text; }

    /// Joins every pair from `offset` (of a backslash in a double-quoted scalar) to the end of that scalar. False when
    /// there is no pair at `offset`.
    bool joinFrom(std::size_t offset);

    /// The offset in the original text of a byte of `text()`.
    std::size_t toOriginal(std::size_t offset) const;

private:
    std::string m_text;
    std::vector<std::size_t> m_joins; ///< offsets in m_text, ascending
};

} // namespace assay::registry
