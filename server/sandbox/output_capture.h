// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/box_spec.h"

namespace assay::sandbox {

/// Keeps what a stream wrote: everything up to `capBytes`; above it the first quarter of the cap and the last three,
/// counting what lay between. Memory grows with what is kept, never beyond the cap. One thread.
class OutputCapture
{
public:
    explicit OutputCapture(std::uint64_t capBytes);

    /// Answers the front of `bytes` that still lies below the cap: what a live reader gets to see.
    std::string_view add(std::string_view bytes);
    std::uint64_t totalBytes() const { return m_total; }
    bool isOverCap() const { return m_total > m_cap; }

    /// Hands out what was kept and starts anew.
    CapturedOutput take();

private:
    void addToTail(std::string_view bytes);

    std::uint64_t m_cap;
    std::uint64_t m_headCap;
    std::uint64_t m_total = 0;
    std::string m_head;
    std::string m_tail;          ///< a ring once it is full
    std::size_t m_tailBegin = 0; ///< the oldest byte of a full ring
};

} // namespace assay::sandbox
