// SPDX-License-Identifier: Apache-2.0
#include "server/core/file_io.h"
#include "server/runtime/settings.h"

#include <format>
#include <optional>
#include <toml++/toml.hpp>

namespace assay::runtime {

namespace {

constexpr std::uint64_t kMaxFileBytes = 1 << 20;

using Entries = std::vector<std::pair<std::string, std::vector<std::string>>>;

std::optional<std::string> textOf(const toml::node& node)
{
    if (const auto text = node.value_exact<std::string>())
        return text;
    if (const auto whole = node.value_exact<std::int64_t>())
        return std::to_string(*whole);
    if (const auto real = node.value_exact<double>())
        return std::format("{}", *real);
    if (const auto truth = node.value_exact<bool>())
        return *truth ? "true" : "false";
    return std::nullopt;
}

bool flatten(const toml::table& table, const std::string& prefix, Entries& out)
{
    for (const auto& [key, node] : table) {
        const std::string name = prefix + std::string(key.str());
        if (const auto* inner = node.as_table()) {
            if (!flatten(*inner, name + ".", out))
                return false;
            continue;
        }
        std::vector<std::string> values;
        const auto* list = node.as_array();
        for (std::size_t i = 0; i < (list ? list->size() : 1); ++i) {
            auto text = textOf(list ? *list->get(i) : node);
            if (!text)
                return false;
            values.push_back(std::move(*text));
        }
        out.emplace_back(name, std::move(values));
    }
    return true;
}

} // namespace

Result<Entries> readTomlFile(const std::filesystem::path& file)
{
    auto bytes = readFile(file, kMaxFileBytes);
    if (!bytes)
        return forward(bytes);
    Entries out;
    try {
        if (!flatten(toml::parse(*bytes), {}, out))
            return fail(ErrorCode::InvalidArgument,
                        file.string() + ": a value is neither text, number, boolean nor a list of these");
    } catch (const toml::parse_error& error) {
        const auto& at = error.source().begin;
        return fail(ErrorCode::InvalidArgument,
                    std::format("{}, line {}, column {}: {}", file.string(), at.line, at.column, error.description()));
    }
    return out;
}

} // namespace assay::runtime
