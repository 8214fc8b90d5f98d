// SPDX-License-Identifier: Apache-2.0
#include "server/runs/effective_limits.h"

#include <cmath>
#include <format>

namespace assay::runs {

namespace {

// Below these a box cannot even start its init and one small program.
constexpr double kMinCpus = 0.01;
constexpr std::uint64_t kMinMemory = 8ULL << 20;
constexpr std::uint64_t kMinPids = 4;
constexpr std::uint64_t kMinWorkspace = 64ULL << 10;

template <typename T> struct Bound
{
    std::string_view member;
    T least;
    T most;
};

template <typename T> Result<T> choose(const std::optional<T>& asked, const Bound<T>& bound)
{
    if (!asked)
        return bound.most;
    const auto pointer = std::format("/limits/{}", bound.member);
    if constexpr (std::is_floating_point_v<T>) {
        if (!std::isfinite(*asked))
            return failAt(pointer, std::format("{} is not a finite number", bound.member));
    }
    if (*asked < bound.least)
        return failAt(pointer, std::format("{} is {}; at least {} is needed", bound.member, *asked, bound.least));
    if (*asked > bound.most)
        return failAt(pointer, std::format("{} is {}; the limit here is {}", bound.member, *asked, bound.most));
    return *asked;
}

/// The agent's limit cut to the server's; nonsense in an old row counts as absent.
template <typename T> T ceilingOf(const std::optional<T>& agent, T least, T server)
{
    if constexpr (std::is_floating_point_v<T>) {
        if (agent && !std::isfinite(*agent))
            return server;
    }
    return agent && *agent >= least ? std::min(*agent, server) : server;
}

Result<sandbox::OutputMode> chooseMode(const std::optional<std::string>& asked, const std::optional<std::string>& agent,
                                       sandbox::OutputMode fallback)
{
    const auto& text = asked ? asked : agent;
    if (!text)
        return fallback;
    if (*text == "truncate")
        return sandbox::OutputMode::Truncate;
    if (*text == "terminate")
        return sandbox::OutputMode::Terminate;
    return failAt("/limits/output_mode", "output_mode is \"truncate\" or \"terminate\"");
}

std::uint64_t milliseconds(std::chrono::milliseconds value) { return static_cast<std::uint64_t>(value.count()); }

} // namespace

Result<EffectiveLimits> effectiveLimits(const contract::RunLimits& asked,
                                        const std::optional<contract::RunLimits>& agent, const LimitCeilings& ceilings)
{
    const contract::RunLimits own = agent.value_or(contract::RunLimits{});
    EffectiveLimits out{.box = ceilings.box, .command = ceilings.command};

    auto cpus = choose(asked.cpus, Bound<double>{"cpus", kMinCpus, ceilingOf(own.cpus, kMinCpus, out.box.cpus)});
    if (!cpus)
        return forward(cpus);
    out.box.cpus = *cpus;

    const auto whole = [](const std::optional<std::uint64_t>& wanted, const std::optional<std::uint64_t>& agents,
                          std::string_view member, std::uint64_t least, std::uint64_t server) {
        return choose(wanted, Bound<std::uint64_t>{member, least, ceilingOf(agents, least, server)});
    };
    auto memory = whole(asked.memoryBytes, own.memoryBytes, "memory_bytes", kMinMemory, out.box.memoryBytes);
    auto pids = whole(asked.pids, own.pids, "pids", kMinPids, out.box.pids);
    auto wall = whole(asked.wallMs, own.wallMs, "wall_ms", 1, milliseconds(out.command.wall));
    auto output = whole(asked.outputBytes, own.outputBytes, "output_bytes", 4, out.command.outputBytes);
    auto workspace =
        whole(asked.workspaceBytes, own.workspaceBytes, "workspace_bytes", kMinWorkspace, out.box.workspaceBytes);
    for (auto* each : {&memory, &pids, &wall, &output, &workspace})
        if (!*each)
            return forward(*each);
    auto mode = chooseMode(asked.outputMode, own.outputMode, out.command.outputMode);
    if (!mode)
        return forward(mode);

    out.box.memoryBytes = *memory;
    out.box.pids = static_cast<std::uint32_t>(*pids);
    out.box.workspaceBytes = *workspace;
    out.command.wall = std::chrono::milliseconds(*wall);
    out.command.outputBytes = *output;
    out.command.outputMode = *mode;
    return out;
}

Result<std::chrono::milliseconds> effectiveTimeout(const std::optional<std::uint64_t>& asked,
                                                   std::chrono::milliseconds ceiling)
{
    if (!asked)
        return ceiling;
    if (*asked == 0 || *asked > milliseconds(ceiling))
        return failAt("/timeout_ms", std::format("timeout_ms is {}; this run allows 1 to {}", *asked, ceiling.count()));
    return std::chrono::milliseconds(*asked);
}

} // namespace assay::runs
