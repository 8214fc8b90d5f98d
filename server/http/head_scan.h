// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::http {

/// Walks over the raw bytes of a request's head (RFC 9112) while they arrive and refuses at the first byte what a
/// parser may let pass or read in two ways: bare CR or LF, NUL and other controls, obs-fold, blanks before a colon,
/// an empty field name, bytes above ASCII in the request line, more than one space in it, any version but HTTP/1.0 and
/// HTTP/1.1. The parser then reads the same bytes. One request at a time; not synchronized.
class HeadScan
{
public:
    enum class State : std::uint8_t { NeedMore, Complete, Refused };

    HeadScan(std::size_t maxBytes, std::size_t maxFields) : m_maxBytes(maxBytes), m_maxFields(maxFields) {}

    /// `all` is the request from its first byte; bytes seen by an earlier call are not walked again.
    State advance(std::string_view all);

    /// With `Complete`: where the request line begins (after empty lines, which are skipped: at most two) and where the
    /// body begins.
    std::size_t begin() const { return m_begin; }
    std::size_t end() const { return m_position; }
    /// With `Refused`: a sentence for the client.
    std::string_view fault() const { return m_fault; }
    bool isTooLarge() const { return m_tooLarge; }
    bool hasStarted() const { return m_step != Step::Start || m_position > 0; }

private:
    enum class Step : std::uint8_t {
        Start,
        StartLf,
        Method,
        Target,
        Version,
        LineLf,
        FieldStart,
        FieldName,
        FieldValue,
        FieldLf,
        EndLf,
    };
    State step(char c, std::string_view all);
    State stepLine(char c, std::string_view all);
    State stepField(char c);
    State stepFieldStart(char c);
    State refuse(std::string_view fault);
    State go(Step next);
    State expectLf(char c, Step next);

    std::size_t m_maxBytes;
    std::size_t m_maxFields;
    std::size_t m_position = 0;
    std::size_t m_begin = 0;
    std::size_t m_mark = 0; ///< where the version begins
    std::size_t m_fields = 0;
    Step m_step = Step::Start;
    bool m_tooLarge = false;
    std::string_view m_fault;
};

/// A character of an HTTP token (RFC 9110, 5.6.2).
bool isTokenChar(char c);

} // namespace assay::http
