// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/clock.h"
#include "server/core/json.h"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::contract {

/// What one text member may hold; lengths in bytes of UTF-8.
struct TextRule
{
    std::size_t minBytes = 0;
    std::size_t maxBytes = 4096;
    enum class Nul : std::uint8_t { Refused, Allowed } nul = Nul::Refused;
    std::span<const std::string_view> oneOf{}; ///< when not empty: exactly one of these
};

/// What a list or map member may hold.
struct ListRule
{
    std::size_t maxItems = 1000;
    TextRule item{.minBytes = 1};
};

/// Reads one JSON object strictly: every member is named by a call, and `finish` refuses the ones that were not, null,
/// a wrong type, a number out of range or with a fraction. All faults are collected (100 at most), each with its JSON
/// pointer (RFC 6901); the first gives the message. A read that fails leaves its target as it was.
///
///     ObjectReader in(body);
///     in.text("name", out.name, {.minBytes = 1}).flag("session", out.session);
///     return in.finish(std::move(out));
///
/// The value must outlive the reader. One thread at a time.
class ObjectReader
{
public:
    explicit ObjectReader(const json::value& value, std::string pointer = {});
    ObjectReader(const ObjectReader&) = delete;
    ObjectReader& operator=(const ObjectReader&) = delete;

    ObjectReader& text(std::string_view name, std::string& out, const TextRule& rule = {});
    ObjectReader& text(std::string_view name, std::optional<std::string>& out, const TextRule& rule = {});
    ObjectReader& flag(std::string_view name, bool& out);
    ObjectReader& flag(std::string_view name, std::optional<bool>& out);
    /// A whole number between `least` and `most`; 2.0 counts as 2.
    ObjectReader& count(std::string_view name, std::optional<std::uint64_t>& out, std::uint64_t least,
                        std::uint64_t most);
    /// A finite number above 0 and up to `most`.
    ObjectReader& positive(std::string_view name, std::optional<double>& out, double most);
    ObjectReader& time(std::string_view name, std::optional<Timestamp>& out);
    ObjectReader& texts(std::string_view name, std::vector<std::string>& out, const ListRule& rule = {});
    /// An object of strings; `key` judges the member names.
    ObjectReader& textMap(std::string_view name, std::map<std::string, std::string>& out, const ListRule& rule,
                          const TextRule& key);
    /// Any JSON, null included.
    ObjectReader& any(std::string_view name, std::optional<json::value>& out);
    /// A nested object, when it is there: `read` names its members.
    ObjectReader& object(std::string_view name, const std::function<void(ObjectReader&)>& read);
    ObjectReader& objects(std::string_view name, std::size_t maxItems, const std::function<void(ObjectReader&)>& read);
    /// Records a fault when the member is missing.
    ObjectReader& require(std::string_view name);
    /// Records a fault of the member; an empty name means the object itself.
    ObjectReader& refuse(std::string_view name, std::string message);

    bool has(std::string_view name) const;
    bool failed() const { return !m_problems->empty(); }
    /// Judges the members that nobody named, and gives everything found.
    Result<void> finish();
    template <typename T> Result<T> finish(T out)
    {
        auto done = finish();
        if (!done)
            return forward(done);
        return out;
    }

private:
    ObjectReader(const json::value& value, std::string pointer, std::vector<Problem>* problems);
    void adopt(const json::value& value);
    const json::value* take(std::string_view name);
    void refuseAt(std::string pointer, std::string message);
    std::string pointerTo(std::string_view name) const;
    bool judge(const std::string& pointer, const json::value& value, const TextRule& rule);
    void refuseUnknown();

    const json::object* m_object = nullptr;
    std::string m_pointer;
    std::vector<std::string_view> m_known;
    std::vector<Problem> m_own;
    std::vector<Problem>* m_problems = &m_own;
};

} // namespace assay::contract
