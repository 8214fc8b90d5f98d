// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"
#include "server/core/json.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// What a person may read on a terminal: control, bidi and zero-width characters, and what is not UTF-8, are written as
/// "\u{202E}" or "\xFF". Line breaks too, so that one value stays one line.
std::string plain(std::string_view text);

/// "1.4 MiB", "312 bytes".
std::string sizeText(std::uint64_t bytes);
/// "850 ms", "2.4 s", "3 min 5 s".
std::string durationText(std::uint64_t milliseconds);

/// Columns of plain text, each as wide as its widest cell; the first row is the heading.
class TextTable
{
public:
    explicit TextTable(std::vector<std::string> heading) { m_rows.push_back(std::move(heading)); }
    /// Cells are made `plain` here.
    void add(std::vector<std::string> cells);
    std::string text() const;
    bool hasRows() const { return m_rows.size() > 1; }

private:
    std::vector<std::vector<std::string>> m_rows;
};

/// Standard output and standard error. Writes are whole and unbuffered; after the reader of standard output has gone
/// (EPIPE), nothing more is written to it and `outputBroken` tells. One thread at a time.
class Console
{
public:
    /// Bytes as they are.
    void out(std::string_view bytes) { write(1, bytes, m_outBroken); }
    void error(std::string_view bytes) { write(2, bytes, m_errorBroken); }
    bool outputBroken() const { return m_outBroken; }

    /// One line of progress on standard error that replaces the one before it; only on a terminal.
    void progress(std::string_view text);
    /// Takes the line of progress away.
    void endProgress();
    bool hasTerminal() const;
    /// Standard output is a terminal: colours make sense.
    bool outputIsTerminal() const;

private:
    static void write(int fd, std::string_view bytes, bool& broken);

    bool m_outBroken = false;
    bool m_errorBroken = false;
    bool m_progressShown = false;
};

/// A failure in words, for standard error: what, where (one line a finding, as FILE:LINE:COLUMN below `folder`), and
/// what to do.
std::string errorText(const Error& error, std::string_view folder = {});
/// The same as one JSON object: code, detail, reason, errors.
json::object errorJson(const Error& error);

/// One finding as "FILE:LINE:COLUMN: message [code]".
std::string problemText(const Problem& problem, std::string_view folder);

} // namespace assay::cli
