// SPDX-License-Identifier: Apache-2.0
#include "server/http/head_scan.h"

namespace assay::http {

namespace {

constexpr std::size_t kMaxEmptyLineBytes = 4;

bool isVisible(char c) { return c > 0x20 && c < 0x7f; }

bool isValueChar(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

} // namespace

bool isTokenChar(char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
        return true;
    return c != 0 && std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

HeadScan::State HeadScan::advance(std::string_view all)
{
    while (m_position < all.size()) {
        if (m_position - m_begin >= m_maxBytes) {
            m_tooLarge = true;
            return refuse("the head of the request is larger than the server allows");
        }
        const char c = all[m_position++];
        if (const State state = step(c, all); state != State::NeedMore)
            return state;
    }
    return State::NeedMore;
}

HeadScan::State HeadScan::step(char c, std::string_view all)
{
    switch (m_step) {
    case Step::Start:
    case Step::StartLf:
    case Step::Method:
    case Step::Target:
    case Step::Version:
        return stepLine(c, all);
    case Step::LineLf:
    case Step::FieldLf:
        return expectLf(c, Step::FieldStart);
    case Step::EndLf:
        return c == '\n' ? State::Complete : refuse("a line of the head ends with CR alone");
    case Step::FieldStart:
    case Step::FieldName:
    case Step::FieldValue:
        break;
    }
    return stepField(c);
}

HeadScan::State HeadScan::stepLine(char c, std::string_view all)
{
    switch (m_step) {
    case Step::Start:
        if (c == '\r' && m_position <= kMaxEmptyLineBytes)
            return go(Step::StartLf);
        m_begin = m_position - 1;
        return isTokenChar(c) ? go(Step::Method) : refuse("the request line does not begin with a method");
    case Step::StartLf:
        return expectLf(c, Step::Start);
    case Step::Method:
        if (c == ' ')
            return go(Step::Target);
        return isTokenChar(c) ? State::NeedMore : refuse("the method is not followed by one space");
    case Step::Target:
        if (c == ' ' && all[m_position - 2] != ' ') {
            m_mark = m_position;
            return go(Step::Version);
        }
        return isVisible(c) ? State::NeedMore : refuse("the request target holds a blank, control or non-ASCII byte");
    default:
        break;
    }
    if (c != '\r')
        return m_position - m_mark <= 8 ? State::NeedMore : refuse("the request line does not end with HTTP/1.1");
    const auto version = all.substr(m_mark, m_position - 1 - m_mark);
    if (version != "HTTP/1.1" && version != "HTTP/1.0")
        return refuse("the server speaks HTTP/1.1 and HTTP/1.0 only");
    return go(Step::LineLf);
}

HeadScan::State HeadScan::stepFieldStart(char c)
{
    if (c == '\r')
        return go(Step::EndLf);
    if (c == ' ' || c == '\t')
        return refuse("a header field is folded over two lines, or a line begins with a blank");
    if (!isTokenChar(c))
        return refuse("a header field has no name, or a byte that no name may hold");
    if (++m_fields > m_maxFields) {
        m_tooLarge = true;
        return refuse("the request has more header fields than the server allows");
    }
    return go(Step::FieldName);
}

HeadScan::State HeadScan::stepField(char c)
{
    if (m_step == Step::FieldStart)
        return stepFieldStart(c);
    if (m_step == Step::FieldName) {
        if (c == ':')
            return go(Step::FieldValue);
        return isTokenChar(c) ? State::NeedMore : refuse("a header field's name holds a blank or a forbidden byte");
    }
    if (c == '\r')
        return go(Step::FieldLf);
    return isValueChar(c) ? State::NeedMore : refuse("a header field's value holds a bare line feed or a control byte");
}

HeadScan::State HeadScan::refuse(std::string_view fault)
{
    m_fault = fault;
    return State::Refused;
}

HeadScan::State HeadScan::go(Step next)
{
    m_step = next;
    return State::NeedMore;
}

HeadScan::State HeadScan::expectLf(char c, Step next)
{
    return c == '\n' ? go(next) : refuse("a line of the head ends with CR alone");
}

} // namespace assay::http
