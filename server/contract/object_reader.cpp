// SPDX-License-Identifier: Apache-2.0
#include "server/contract/object_reader.h"

#include <algorithm>
#include <cmath>

namespace assay::contract {

namespace {

constexpr std::size_t kMaxProblems = 100;
/// Whole numbers up to here survive a double, and so every JSON parser (RFC 8259, section 6).
constexpr double kMaxExact = 9007199254740992.0;

std::string_view view(const json::string& text) { return {text.data(), text.size()}; }

std::optional<std::uint64_t> wholeNumber(const json::value& value)
{
    if (value.is_uint64())
        return value.get_uint64();
    if (value.is_int64() && value.get_int64() >= 0)
        return static_cast<std::uint64_t>(value.get_int64());
    if (!value.is_double())
        return std::nullopt;
    const double number = value.get_double();
    if (!std::isfinite(number) || number < 0 || number > kMaxExact || number != std::floor(number))
        return std::nullopt;
    return static_cast<std::uint64_t>(number);
}

std::string listed(std::span<const std::string_view> choices)
{
    std::string out;
    for (const std::string_view choice : choices)
        out += (out.empty() ? "\"" : ", \"") + std::string(choice) + "\"";
    return out;
}

std::string lengthMessage(std::size_t bytes, const TextRule& rule)
{
    return "this text has " + std::to_string(bytes) + " bytes; between " + std::to_string(rule.minBytes) + " and " +
           std::to_string(rule.maxBytes) + " are allowed";
}

/// What is wrong with `text` under `rule`; empty when nothing is.
std::string faultOf(std::string_view text, const TextRule& rule)
{
    if (!rule.oneOf.empty())
        return std::ranges::contains(rule.oneOf, text) ? "" : "this must be one of " + listed(rule.oneOf);
    if (text.size() < rule.minBytes || text.size() > rule.maxBytes)
        return lengthMessage(text.size(), rule);
    if (rule.nul == TextRule::Nul::Refused && text.contains('\0'))
        return "this text must not hold U+0000";
    return {};
}

} // namespace

ObjectReader::ObjectReader(const json::value& value, std::string pointer) : m_pointer(std::move(pointer))
{
    adopt(value);
}

ObjectReader::ObjectReader(const json::value& value, std::string pointer, std::vector<Problem>* problems)
    : m_pointer(std::move(pointer)), m_problems(problems)
{
    adopt(value);
}

void ObjectReader::adopt(const json::value& value)
{
    m_object = value.if_object();
    if (!m_object)
        refuseAt(m_pointer, "this must be a JSON object");
}

std::string ObjectReader::pointerTo(std::string_view name) const
{
    return name.empty() ? m_pointer : m_pointer + "/" + pointerToken(name);
}

void ObjectReader::refuseAt(std::string pointer, std::string message)
{
    if (m_problems->size() < kMaxProblems)
        m_problems->push_back(
            {.code = "invalid_argument", .message = std::move(message), .pointer = std::move(pointer)});
}

ObjectReader& ObjectReader::refuse(std::string_view name, std::string message)
{
    refuseAt(pointerTo(name), std::move(message));
    return *this;
}

bool ObjectReader::has(std::string_view name) const { return m_object && m_object->contains(name); }

const json::value* ObjectReader::take(std::string_view name)
{
    m_known.push_back(name);
    return m_object ? m_object->if_contains(name) : nullptr;
}

bool ObjectReader::judge(const std::string& pointer, const json::value& value, const TextRule& rule)
{
    if (!value.is_string()) {
        refuseAt(pointer, "this must be a string");
        return false;
    }
    std::string fault = faultOf(view(value.get_string()), rule);
    if (fault.empty())
        return true;
    refuseAt(pointer, std::move(fault));
    return false;
}

ObjectReader& ObjectReader::text(std::string_view name, std::string& out, const TextRule& rule)
{
    const json::value* value = take(name);
    if (value && judge(pointerTo(name), *value, rule))
        out = view(value->get_string());
    return *this;
}

ObjectReader& ObjectReader::text(std::string_view name, std::optional<std::string>& out, const TextRule& rule)
{
    std::string text;
    const std::size_t before = m_problems->size();
    this->text(name, text, rule);
    if (has(name) && m_problems->size() == before)
        out = std::move(text);
    return *this;
}

ObjectReader& ObjectReader::flag(std::string_view name, std::optional<bool>& out)
{
    const json::value* value = take(name);
    if (value && value->is_bool())
        out = value->get_bool();
    else if (value)
        refuse(name, "this must be true or false");
    return *this;
}

ObjectReader& ObjectReader::flag(std::string_view name, bool& out)
{
    std::optional<bool> read;
    flag(name, read);
    out = read.value_or(out);
    return *this;
}

ObjectReader& ObjectReader::count(std::string_view name, std::optional<std::uint64_t>& out, std::uint64_t least,
                                  std::uint64_t most)
{
    const json::value* value = take(name);
    if (!value)
        return *this;
    const auto number = wholeNumber(*value);
    if (number && *number >= least && *number <= most)
        out = number;
    else
        refuse(name, "this must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return *this;
}

ObjectReader& ObjectReader::positive(std::string_view name, std::optional<double>& out, double most)
{
    const json::value* value = take(name);
    if (!value)
        return *this;
    const double number = value->is_number() ? value->to_number<double>() : -1;
    if (std::isfinite(number) && number > 0 && number <= most)
        out = number;
    else
        refuse(name, "this must be a number above 0 and at most " + json::serialize(json::value(most)));
    return *this;
}

ObjectReader& ObjectReader::time(std::string_view name, std::optional<Timestamp>& out)
{
    std::string text;
    const std::size_t before = m_problems->size();
    this->text(name, text, {.maxBytes = 64});
    if (!has(name) || m_problems->size() != before)
        return *this;
    const auto parsed = parseTimestamp(text);
    if (parsed)
        out = *parsed;
    else
        refuse(name, "this must be a time as in 2026-11-30T12:00:00.000Z (RFC 3339)");
    return *this;
}

ObjectReader& ObjectReader::texts(std::string_view name, std::vector<std::string>& out, const ListRule& rule)
{
    const json::value* value = take(name);
    if (!value)
        return *this;
    const json::array* list = value->if_array();
    if (!list)
        return refuse(name, "this must be a list of strings");
    if (list->size() > rule.maxItems)
        return refuse(name, "this list has " + std::to_string(list->size()) + " items; at most " +
                                std::to_string(rule.maxItems) + " are allowed");
    std::vector<std::string> read;
    for (std::size_t i = 0; i < list->size(); ++i)
        if (judge(pointerTo(name) + "/" + std::to_string(i), (*list)[i], rule.item))
            read.emplace_back(view((*list)[i].get_string()));
    if (read.size() == list->size())
        out = std::move(read);
    return *this;
}

ObjectReader& ObjectReader::textMap(std::string_view name, std::map<std::string, std::string>& out,
                                    const ListRule& rule, const TextRule& key)
{
    const json::value* value = take(name);
    if (!value)
        return *this;
    const json::object* members = value->if_object();
    if (!members)
        return refuse(name, "this must be an object of strings");
    if (members->size() > rule.maxItems)
        return refuse(name, "this object has " + std::to_string(members->size()) + " members; at most " +
                                std::to_string(rule.maxItems) + " are allowed");
    for (const auto& member : *members) {
        const std::string_view memberName(member.key().data(), member.key().size());
        const std::string pointer = pointerTo(name) + "/" + pointerToken(memberName);
        std::string fault = faultOf(memberName, key);
        if (!fault.empty())
            refuseAt(pointer, "the name of this member: " + fault);
        else if (judge(pointer, member.value(), rule.item))
            out.emplace(memberName, view(member.value().get_string()));
    }
    return *this;
}

ObjectReader& ObjectReader::any(std::string_view name, std::optional<json::value>& out)
{
    if (const json::value* value = take(name))
        out = *value;
    return *this;
}

ObjectReader& ObjectReader::object(std::string_view name, const std::function<void(ObjectReader&)>& read)
{
    if (const json::value* value = take(name)) {
        ObjectReader child(*value, pointerTo(name), m_problems);
        read(child);
        child.refuseUnknown();
    }
    return *this;
}

ObjectReader& ObjectReader::objects(std::string_view name, std::size_t maxItems,
                                    const std::function<void(ObjectReader&)>& read)
{
    const json::value* value = take(name);
    if (!value)
        return *this;
    const json::array* list = value->if_array();
    if (!list || list->size() > maxItems)
        return refuse(name, "this must be a list of at most " + std::to_string(maxItems) + " objects");
    for (std::size_t i = 0; i < list->size(); ++i) {
        ObjectReader child((*list)[i], pointerTo(name) + "/" + std::to_string(i), m_problems);
        read(child);
        child.refuseUnknown();
    }
    return *this;
}

ObjectReader& ObjectReader::require(std::string_view name)
{
    if (m_object && !m_object->contains(name))
        refuse(name, "this member is missing");
    return *this;
}

void ObjectReader::refuseUnknown()
{
    if (!m_object)
        return;
    for (const auto& member : *m_object) {
        const std::string_view name(member.key().data(), member.key().size());
        if (!std::ranges::contains(m_known, name))
            refuse(name, "this member is not known here");
    }
}

Result<void> ObjectReader::finish()
{
    refuseUnknown();
    if (m_problems->empty())
        return {};
    const Problem& first = m_problems->front();
    const std::string where = first.pointer.empty() ? "the body" : "\"" + first.pointer + "\"";
    Error error{ErrorCode::InvalidArgument, where + ": " + first.message, {}, {}, *m_problems};
    return std::unexpected(std::move(error));
}

} // namespace assay::contract
