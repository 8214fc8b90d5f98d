// SPDX-License-Identifier: Apache-2.0
#include "server/api/router.h"

#include <algorithm>
#include <set>

namespace assay::api {

namespace {

std::vector<std::string_view> split(std::string_view path)
{
    std::vector<std::string_view> out;
    path.remove_prefix(1);
    while (true) {
        const auto slash = path.find('/');
        out.push_back(path.substr(0, slash));
        if (slash == std::string_view::npos)
            return out;
        path.remove_prefix(slash + 1);
    }
}

bool isParameter(std::string_view segment) { return segment.starts_with('{'); }
bool isRest(std::string_view segment) { return segment.ends_with("...}"); }

std::string joined(std::span<const std::string> segments)
{
    std::string out;
    for (const std::string& segment : segments)
        out += (&segment == segments.data() ? "" : "/") + segment;
    return out;
}

} // namespace

Router::Router(std::span<const Route> routes)
{
    for (const Route& route : routes)
        m_patterns.push_back({&route, split(route.path)});
    // Fewer parameters first, so that "/v1/skills/validate" is not the skill "validate".
    std::ranges::stable_sort(
        m_patterns, {}, [](const Pattern& pattern) { return std::ranges::count_if(pattern.segments, isParameter); });
}

bool Router::matches(const Pattern& pattern, const std::vector<std::string>& segments,
                     std::vector<std::string>& parameters)
{
    parameters.clear();
    for (std::size_t i = 0; i < pattern.segments.size(); ++i) {
        if (i >= segments.size() || segments[i].empty())
            return false;
        if (isRest(pattern.segments[i])) {
            parameters.push_back(joined(std::span(segments).subspan(i)));
            return true;
        }
        if (isParameter(pattern.segments[i]))
            parameters.push_back(segments[i]);
        else if (pattern.segments[i] != segments[i])
            return false;
    }
    return segments.size() == pattern.segments.size();
}

Router::Match Router::find(Method method, const std::vector<std::string>& segments) const
{
    const Method wanted = method == Method::Head ? Method::Get : method;
    Match match;
    std::set<std::string_view> allowed;
    for (const Pattern& pattern : m_patterns) {
        if (!matches(pattern, segments, match.parameters))
            continue;
        if (pattern.route->method == wanted) {
            match.route = pattern.route;
            return match;
        }
        allowed.insert(methodName(pattern.route->method));
        if (pattern.route->method == Method::Get)
            allowed.insert(methodName(Method::Head));
    }
    for (const std::string_view name : allowed)
        match.allow += (match.allow.empty() ? "" : ", ") + std::string(name);
    match.parameters.clear();
    return match;
}

std::string_view methodName(Method method)
{
    switch (method) {
    case Method::Get:
        return "GET";
    case Method::Head:
        return "HEAD";
    case Method::Post:
        return "POST";
    case Method::Put:
        return "PUT";
    case Method::Patch:
        return "PATCH";
    case Method::Delete:
        return "DELETE";
    }
    return "";
}

} // namespace assay::api
