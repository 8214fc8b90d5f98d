// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/store/connection.h"

#include <vector>

namespace assay::store {

/// What was kept of one output stream: all of it in `head`, or a head and a tail with the bytes between dropped.
struct OutputRow
{
    std::string head;
    std::string tail;
    std::uint64_t totalBytes = 0;
};

/// One command of a run as the API shows it; never its arguments, input or environment.
struct CommandRow
{
    std::string id; ///< "cmd_..."
    std::string state;
    std::optional<std::int64_t> exitCode;
    std::optional<std::int64_t> signal;
    std::string termination;
    OutputRow out;
    OutputRow err;
    std::uint64_t wallMs = 0;
    std::uint64_t cpuMs = 0;
    std::uint64_t maxRssBytes = 0;
    Timestamp createdAt;
    std::optional<Timestamp> startedAt;
    std::optional<Timestamp> endedAt;
};

/// Whether a listing carries the output's bytes.
enum class WithOutput : std::uint8_t { No, Yes };

/// The SQL of the table `commands`, one exact scope at a time. Confined to its connection.
class CommandTable
{
public:
    explicit CommandTable(Connection& connection) : m_connection(connection) {}

    /// Inserts, or replaces what is known of the command.
    Result<void> put(std::string_view fingerprint, std::string_view run, const CommandRow& row);
    Result<std::optional<CommandRow>> find(std::string_view fingerprint, std::string_view run, std::string_view id);
    /// Oldest first, at most `limit`.
    Result<std::vector<CommandRow>> list(std::string_view fingerprint, std::string_view run, WithOutput output,
                                         std::uint32_t limit);
    /// What was kept of its standard output alone; empty when the command is not there.
    Result<OutputRow> standardOutput(std::string_view fingerprint, std::string_view run, std::string_view id);

private:
    Connection& m_connection;
};

} // namespace assay::store
