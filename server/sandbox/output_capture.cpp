// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/output_capture.h"

#include <algorithm>
#include <cstring>

namespace assay::sandbox {

OutputCapture::OutputCapture(std::uint64_t capBytes) : m_cap(capBytes), m_headCap(capBytes / 4) {}

std::string_view OutputCapture::add(std::string_view bytes)
{
    const std::uint64_t below = m_total < m_cap ? m_cap - m_total : 0;
    const std::string_view visible = bytes.substr(0, std::min<std::uint64_t>(below, bytes.size()));
    m_total += bytes.size();
    const std::size_t toHead = std::min<std::uint64_t>(m_headCap - m_head.size(), bytes.size());
    m_head.append(bytes.substr(0, toHead));
    addToTail(bytes.substr(toHead));
    return visible;
}

void OutputCapture::addToTail(std::string_view bytes)
{
    const auto cap = static_cast<std::size_t>(m_cap - m_headCap);
    if (bytes.size() > cap)
        bytes.remove_prefix(bytes.size() - cap);
    const std::size_t grow = std::min(bytes.size(), cap - m_tail.size());
    m_tail.append(bytes.substr(0, grow));
    bytes.remove_prefix(grow);
    while (!bytes.empty()) {
        const std::size_t piece = std::min(bytes.size(), cap - m_tailBegin);
        std::memcpy(m_tail.data() + m_tailBegin, bytes.data(), piece);
        m_tailBegin = (m_tailBegin + piece) % cap;
        bytes.remove_prefix(piece);
    }
}

CapturedOutput OutputCapture::take()
{
    std::ranges::rotate(m_tail, m_tail.begin() + static_cast<std::ptrdiff_t>(m_tailBegin));
    CapturedOutput captured{std::move(m_head), std::move(m_tail), m_total};
    m_head.clear();
    m_tail.clear();
    m_tailBegin = 0;
    m_total = 0;
    return captured;
}

} // namespace assay::sandbox
