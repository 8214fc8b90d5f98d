// SPDX-License-Identifier: Apache-2.0
#include "app/cli/event_stream.h"

#include <utility>

namespace assay::cli {

namespace {

constexpr std::size_t kLimit = 4 << 20;

} // namespace

void EventStreamReader::restart()
{
    m_line.clear();
    m_nextId = m_lastId;
    m_type.clear();
    m_data.clear();
    m_hasData = false;
    m_afterReturn = false;
}

Result<bool> EventStreamReader::feed(std::string_view bytes, const std::function<bool(const StreamEvent&)>& each)
{
    while (!bytes.empty()) {
        if (m_afterReturn && bytes.front() == '\n')
            bytes.remove_prefix(1);
        m_afterReturn = false;
        const std::size_t end = bytes.find_first_of("\r\n");
        m_line.append(bytes.substr(0, end));
        if (m_line.size() > kLimit || m_data.size() > kLimit)
            return fail(ErrorCode::TooLarge, "an event of the server is over 4 MiB");
        if (end == std::string_view::npos)
            return true;
        m_afterReturn = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        const std::string line = std::exchange(m_line, {});
        if (!takeLine(line, each))
            return false;
    }
    return true;
}

bool EventStreamReader::takeLine(std::string_view line, const std::function<bool(const StreamEvent&)>& each)
{
    if (line.empty()) {
        m_lastId = m_nextId;
        StreamEvent event{m_lastId, std::exchange(m_type, {}), std::exchange(m_data, {})};
        if (event.type.empty())
            event.type = "message";
        return !std::exchange(m_hasData, false) || each(event);
    }
    const std::size_t colon = line.find(':');
    const std::string_view field = line.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' '))
        value.remove_prefix(1);
    if (field == "data") {
        if (m_hasData)
            m_data += '\n';
        m_data.append(value);
        m_hasData = true;
    } else if (field == "event") {
        m_type = value;
    } else if (field == "id" && !value.contains('\0')) {
        m_nextId = value;
    }
    return true;
}

} // namespace assay::cli
