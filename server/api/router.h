// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/route.h"

namespace assay::api {

/// Finds the route of a request. Immutable, so thread-safe.
class Router
{
public:
    explicit Router(std::span<const Route> routes);

    struct Match
    {
        const Route* route = nullptr; ///< none: unknown path, or `allow` names the methods that there are
        std::vector<std::string> parameters;
        std::string allow; ///< for 405: "GET, HEAD, PUT"
    };
    /// A literal segment wins over a parameter; HEAD is served by GET.
    Match find(Method method, const std::vector<std::string>& segments) const;

private:
    struct Pattern
    {
        const Route* route;
        std::vector<std::string_view> segments;
    };
    static bool matches(const Pattern& pattern, const std::vector<std::string>& segments,
                        std::vector<std::string>& parameters);

    std::vector<Pattern> m_patterns;
};

} // namespace assay::api
