// SPDX-License-Identifier: Apache-2.0
#include "server/store/command_table.h"

#include "server/store/row_list.h"

namespace assay::store {

namespace {

#define ASSAY_COMMAND_RESULT                                                                                           \
    "id, state, exit_code, signal, termination, stdout_bytes, stderr_bytes, wall_ms, cpu_ms, max_rss_bytes,"           \
    " created_at, started_at, ended_at"

CommandRow readRow(const Statement& row)
{
    CommandRow out;
    out.id = row.text(0);
    out.state = row.text(1);
    out.exitCode = row.optionalInteger(2);
    out.signal = row.optionalInteger(3);
    out.termination = row.text(4);
    out.out.totalBytes = static_cast<std::uint64_t>(row.integer(5));
    out.err.totalBytes = static_cast<std::uint64_t>(row.integer(6));
    out.wallMs = static_cast<std::uint64_t>(row.integer(7));
    out.cpuMs = static_cast<std::uint64_t>(row.integer(8));
    out.maxRssBytes = static_cast<std::uint64_t>(row.integer(9));
    out.createdAt = row.timestamp(10);
    out.startedAt = row.optionalTimestamp(11);
    out.endedAt = row.optionalTimestamp(12);
    return out;
}

CommandRow readRowWithOutput(const Statement& row)
{
    CommandRow out = readRow(row);
    out.out.head = row.blob(13);
    out.out.tail = row.blob(14);
    out.err.head = row.blob(15);
    out.err.tail = row.blob(16);
    return out;
}

} // namespace

Result<void> CommandTable::put(std::string_view fingerprint, std::string_view run, const CommandRow& row)
{
    auto query = m_connection.prepare(
        "INSERT OR REPLACE INTO commands(fingerprint, run, " ASSAY_COMMAND_RESULT
        ", stdout_head, stdout_tail, stderr_head, stderr_tail) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
        " ?, ?, ?)");
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(run).bind(row.id).bind(row.state).bind(row.exitCode).bind(row.signal);
    query->bind(row.termination).bind(static_cast<std::int64_t>(row.out.totalBytes));
    query->bind(static_cast<std::int64_t>(row.err.totalBytes)).bind(static_cast<std::int64_t>(row.wallMs));
    query->bind(static_cast<std::int64_t>(row.cpuMs)).bind(static_cast<std::int64_t>(row.maxRssBytes));
    query->bind(row.createdAt).bind(row.startedAt).bind(row.endedAt);
    query->bindBlob(row.out.head).bindBlob(row.out.tail).bindBlob(row.err.head).bindBlob(row.err.tail);
    return query->run();
}

Result<std::optional<CommandRow>> CommandTable::find(std::string_view fingerprint, std::string_view run,
                                                     std::string_view id)
{
    auto query = m_connection.prepare(
        "SELECT " ASSAY_COMMAND_RESULT
        ", stdout_head, stdout_tail, stderr_head, stderr_tail FROM commands WHERE fingerprint = ? AND run = ? AND"
        " id = ?");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(run).bind(id).step();
    if (!found)
        return std::unexpected(found.error());
    return *found ? std::optional(readRowWithOutput(*query)) : std::nullopt;
}

Result<std::vector<CommandRow>> CommandTable::list(std::string_view fingerprint, std::string_view run,
                                                   WithOutput output, std::uint32_t limit)
{
    const bool whole = output == WithOutput::Yes;
    auto query = m_connection.prepare(
        whole ? std::string_view("SELECT " ASSAY_COMMAND_RESULT ", stdout_head, stdout_tail, stderr_head, stderr_tail"
                                 " FROM commands WHERE fingerprint = ? AND run = ? ORDER BY id LIMIT ?")
              : std::string_view("SELECT " ASSAY_COMMAND_RESULT
                                 " FROM commands WHERE fingerprint = ? AND run = ? ORDER BY id LIMIT ?"));
    if (!query)
        return forward(query);
    query->bind(fingerprint).bind(run).bind(std::int64_t{limit});
    return readRows(*query, whole ? readRowWithOutput : readRow);
}

Result<OutputRow> CommandTable::standardOutput(std::string_view fingerprint, std::string_view run, std::string_view id)
{
    auto query =
        m_connection.prepare("SELECT stdout_head, stdout_tail, stdout_bytes FROM commands WHERE fingerprint = ?"
                             " AND run = ? AND id = ?");
    if (!query)
        return forward(query);
    const auto found = query->bind(fingerprint).bind(run).bind(id).step();
    if (!found)
        return std::unexpected(found.error());
    if (!*found)
        return OutputRow{};
    return OutputRow{std::string(query->blob(0)), std::string(query->blob(1)),
                     static_cast<std::uint64_t>(query->integer(2))};
}

} // namespace assay::store
