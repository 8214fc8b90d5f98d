// SPDX-License-Identifier: Apache-2.0
#include "server/http/request_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <limits>

namespace assay::http {

namespace beast = boost::beast;

struct RequestParser::State
{
    beast::http::request_parser<beast::http::buffer_body> parser;
};

namespace {

std::string lowerCase(std::string_view text)
{
    std::string out(text);
    std::ranges::transform(out, out.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return out;
}

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

} // namespace

RequestParser::RequestParser() : m_state(std::make_unique<State>())
{
    m_state->parser.header_limit(std::numeric_limits<std::uint32_t>::max()); // HeadScan has counted
    m_state->parser.body_limit(boost::none);                                 // BodyReceiver counts
}

RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;

Result<WireHead> RequestParser::parseHead(std::string_view raw)
{
    auto& parser = m_state->parser;
    beast::error_code error;
    const std::size_t used = parser.put(boost::asio::buffer(raw.data(), raw.size()), error);
    if (error || !parser.is_header_done() || used != raw.size())
        return fail(ErrorCode::InvalidArgument, "the head of the request is not HTTP/1.1", error.message());
    const auto& message = parser.get();
    WireHead head{.method = std::string(view(message.method_string())),
                  .target = std::string(view(message.target())),
                  .minorVersion = message.version() % 10,
                  .fields = {}};
    for (const auto& field : message)
        head.fields.emplace_back(lowerCase(view(field.name_string())), trimmed(view(field.value())));
    return head;
}

Result<std::size_t> RequestParser::feedBody(std::string_view raw, std::string& out)
{
    auto& parser = m_state->parser;
    std::size_t used = 0;
    while (used < raw.size() && !parser.is_done()) {
        const std::size_t before = out.size();
        out.resize(before + raw.size() - used);
        parser.get().body().data = out.data() + before;
        parser.get().body().size = raw.size() - used;
        parser.get().body().more = true;
        beast::error_code error;
        const std::size_t step = parser.put(boost::asio::buffer(raw.data() + used, raw.size() - used), error);
        out.resize(out.size() - parser.get().body().size);
        used += step;
        if (error == beast::http::error::need_more || (step == 0 && !error))
            break;
        if (error && error != beast::http::error::need_buffer)
            return fail(ErrorCode::InvalidArgument, "the body's chunks are not framed as HTTP/1.1 wants",
                        error.message());
    }
    return used;
}

bool RequestParser::isDone() const { return m_state->parser.is_done(); }

} // namespace assay::http
