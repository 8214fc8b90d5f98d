// SPDX-License-Identifier: Apache-2.0
#include "app/cli/json_fields.h"

namespace assay::cli {

namespace {

void indent(std::string& out, std::size_t level)
{
    out += '\n';
    out.append(2 * level, ' ');
}

void write(std::string& out, const json::value& value, std::size_t level);

void writeArray(std::string& out, const json::array& array, std::size_t level)
{
    out += '[';
    for (std::size_t i = 0; i < array.size(); ++i) {
        out += i ? "," : "";
        indent(out, level + 1);
        write(out, array[i], level + 1);
    }
    if (!array.empty())
        indent(out, level);
    out += ']';
}

void writeObject(std::string& out, const json::object& object, std::size_t level)
{
    out += '{';
    bool first = true;
    for (const auto& [name, member] : object) {
        out += first ? "" : ",";
        first = false;
        indent(out, level + 1);
        out += json::serialize(json::string(name)) + ": ";
        write(out, member, level + 1);
    }
    if (!object.empty())
        indent(out, level);
    out += '}';
}

void write(std::string& out, const json::value& value, std::size_t level)
{
    if (value.is_array())
        writeArray(out, value.get_array(), level);
    else if (value.is_object())
        writeObject(out, value.get_object(), level);
    else
        out += json::serialize(value);
}

} // namespace

const json::value* memberOf(const json::value& value, std::string_view path)
{
    const json::value* at = &value;
    while (at && !path.empty()) {
        const std::size_t dot = std::min(path.find('.'), path.size());
        at = at->is_object() ? at->get_object().if_contains(path.substr(0, dot)) : nullptr;
        path.remove_prefix(std::min(dot + 1, path.size()));
    }
    return at;
}

std::string textOf(const json::value& value, std::string_view path)
{
    const json::value* member = memberOf(value, path);
    if (!member || !member->is_string())
        return {};
    return std::string(member->get_string());
}

std::uint64_t numberOf(const json::value& value, std::string_view path)
{
    const json::value* member = memberOf(value, path);
    if (member && member->is_uint64())
        return member->get_uint64();
    return member && member->is_int64() && member->get_int64() > 0 ? static_cast<std::uint64_t>(member->get_int64())
                                                                   : 0;
}

bool isTrue(const json::value& value, std::string_view path)
{
    const json::value* member = memberOf(value, path);
    return member && member->is_bool() && member->get_bool();
}

const json::array& itemsOf(const json::value& value, std::string_view path)
{
    static const json::array kNone;
    const json::value* member = memberOf(value, path);
    return member && member->is_array() ? member->get_array() : kNone;
}

std::string joined(const json::value& value, std::string_view path)
{
    std::string out;
    for (const json::value& item : itemsOf(value, path)) {
        out += out.empty() ? "" : ", ";
        out += item.is_string() ? std::string(item.get_string()) : json::serialize(item);
    }
    return out;
}

std::string prettyJson(const json::value& value)
{
    std::string out;
    write(out, value, 0);
    return out + '\n';
}

} // namespace assay::cli
