// SPDX-License-Identifier: Apache-2.0
#include "server/core/json.h"

#include <boost/json/basic_parser_impl.hpp>
#include <unordered_set>

namespace assay {

namespace {

/// Where the parser stands: an array's index or an object's current member, with the members seen so far.
struct Level
{
    bool isObject = false;
    std::size_t index = 0;
    std::string member;
    std::unordered_set<std::string> members;
};

/// Feeds a value stack and remembers each object's members: Boost.JSON itself keeps the last of two equal ones.
struct Handler
{
    static constexpr std::size_t max_object_size = json::object::max_size();
    static constexpr std::size_t max_array_size = json::array::max_size();
    static constexpr std::size_t max_key_size = json::string::max_size();
    static constexpr std::size_t max_string_size = json::string::max_size();

    json::value_stack stack;
    std::vector<Level> levels;
    std::string key;
    std::string duplicateAt;

    std::string pointer() const
    {
        std::string out;
        for (const Level& level : levels)
            out += "/" + (level.isObject ? pointerToken(level.member) : std::to_string(level.index));
        return out;
    }
    void valueEnded()
    {
        if (!levels.empty() && !levels.back().isObject)
            ++levels.back().index;
    }

    bool on_document_begin(boost::system::error_code&) { return true; }
    bool on_document_end(boost::system::error_code&) { return true; }
    bool on_array_begin(boost::system::error_code&)
    {
        levels.emplace_back();
        return true;
    }
    bool on_array_end(std::size_t n, boost::system::error_code&)
    {
        levels.pop_back();
        stack.push_array(n);
        valueEnded();
        return true;
    }
    bool on_object_begin(boost::system::error_code&)
    {
        levels.push_back({.isObject = true});
        return true;
    }
    bool on_object_end(std::size_t n, boost::system::error_code&)
    {
        levels.pop_back();
        stack.push_object(n);
        valueEnded();
        return true;
    }
    bool on_key_part(json::string_view part, std::size_t, boost::system::error_code&)
    {
        key.append(part.data(), part.size());
        stack.push_chars(part);
        return true;
    }
    bool on_key(json::string_view part, std::size_t, boost::system::error_code& ec)
    {
        key.append(part.data(), part.size());
        stack.push_key(part);
        Level& level = levels.back();
        level.member = std::exchange(key, {});
        if (level.members.insert(level.member).second)
            return true;
        duplicateAt = pointer();
        ec = json::error::exception;
        return false;
    }
    bool on_string_part(json::string_view part, std::size_t, boost::system::error_code&)
    {
        stack.push_chars(part);
        return true;
    }
    bool on_string(json::string_view part, std::size_t, boost::system::error_code&)
    {
        stack.push_string(part);
        valueEnded();
        return true;
    }
    bool on_number_part(json::string_view, boost::system::error_code&) { return true; }
    bool on_int64(std::int64_t value, json::string_view, boost::system::error_code&)
    {
        stack.push_int64(value);
        valueEnded();
        return true;
    }
    bool on_uint64(std::uint64_t value, json::string_view, boost::system::error_code&)
    {
        stack.push_uint64(value);
        valueEnded();
        return true;
    }
    bool on_double(double value, json::string_view, boost::system::error_code& ec)
    {
        if (!std::isfinite(value)) {
            ec = json::error::exponent_overflow;
            return false;
        }
        stack.push_double(value);
        valueEnded();
        return true;
    }
    bool on_bool(bool value, boost::system::error_code&)
    {
        stack.push_bool(value);
        valueEnded();
        return true;
    }
    bool on_null(boost::system::error_code&)
    {
        stack.push_null();
        valueEnded();
        return true;
    }
    bool on_comment_part(json::string_view, boost::system::error_code&) { return true; }
    bool on_comment(json::string_view, boost::system::error_code&) { return true; }
};

std::unexpected<Error> describe(const Handler& handler, const boost::system::error_code& ec, std::size_t at)
{
    if (!handler.duplicateAt.empty())
        return failAt(handler.duplicateAt, "this member stands twice in its object");
    if (ec == json::error::too_deep)
        return failAt(handler.pointer(), "the JSON is nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
    return failAt(handler.pointer(), "this is not JSON: " + ec.message() + " at byte " + std::to_string(at));
}

} // namespace

Result<json::value> parseJson(std::string_view text)
{
    std::size_t ignored = 0;
    return parseJson(text, ignored);
}

Result<json::value> parseJson(std::string_view text, std::size_t& faultOffset)
{
    json::parse_options options;
    options.max_depth = kMaxJsonDepth;
    options.numbers = json::number_precision::precise; // the default is off by one ulp now and then
    json::basic_parser<Handler> parser(options);
    Handler& handler = parser.handler();
    handler.stack.reset();
    boost::system::error_code ec;
    const std::size_t consumed = parser.write_some(false, text.data(), text.size(), ec);
    if (!ec && consumed < text.size())
        ec = json::error::extra_data;
    faultOffset = consumed;
    if (ec)
        return describe(handler, ec, consumed);
    return handler.stack.release();
}

std::string pointerToken(std::string_view member)
{
    std::string out;
    for (const char c : member) {
        if (c == '~')
            out += "~0";
        else if (c == '/')
            out += "~1";
        else
            out += c;
    }
    return out;
}

} // namespace assay
