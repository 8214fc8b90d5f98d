// SPDX-License-Identifier: Apache-2.0
#include "app/cli/run_output.h"

#include "app/cli/command.h"
#include "server/core/base64.h"

namespace assay::cli {

Result<void> RunOutput::follow()
{
    return m_api.events(pathOf({"v1", "runs", m_run, "events"}),
                        [this](const StreamEvent& event) { return take(event); });
}

bool RunOutput::take(const StreamEvent& event)
{
    if (event.type == "end")
        return false;
    if (event.type != "output" && event.type != "command" && event.type != "phase")
        return true;
    auto data = parseJson(event.data);
    if (!data)
        return true;
    if (event.type == "phase")
        m_context.console.progress(textOf(*data, "name"));
    const bool ours = m_command.empty() || textOf(*data, "command") == m_command;
    if (event.type == "output" && ours)
        return takeOutput(*data);
    return !(event.type == "command" && ours && !m_command.empty() && textOf(*data, "state") == "ended");
}

bool RunOutput::takeOutput(const json::value& data)
{
    auto bytes = fromBase64(textOf(data, "data_base64"));
    if (!bytes)
        return true;
    m_context.console.endProgress();
    if (textOf(data, "stream") == "stderr")
        m_context.console.error(*bytes);
    else
        m_context.console.out(*bytes);
    return !m_context.console.outputBroken();
}

int exitStatusOf(const json::value& command)
{
    const json::value* code = memberOf(command, "exit_code");
    const std::string termination = textOf(command, "termination");
    if ((termination != "exited" && !termination.empty()) || !code || !code->is_number())
        return kFailed;
    return static_cast<int>(numberOf(command, "exit_code") & 0xff);
}

std::string cutOffText(const json::value& command)
{
    std::string out;
    const std::string termination = textOf(command, "termination");
    if (termination == "not_started") {
        out += "assayctl: the command could not be started: no such program or folder, or not executable\n";
    } else if (!termination.empty() && termination != "exited") {
        const std::uint64_t signal = numberOf(command, "signal");
        out += "assayctl: the command was cut off: " + plain(termination) +
               (signal ? " (signal " + std::to_string(signal) + ")" : "") + '\n';
    }
    if (const std::uint64_t dropped = numberOf(command, "dropped_bytes"))
        out += "assayctl: " + sizeText(dropped) + " of output were over the limit and dropped\n";
    return out;
}

namespace {

std::string usageText(const json::value& run)
{
    if (!memberOf(run, "usage.cpu_ms"))
        return {};
    std::string out = durationText(numberOf(run, "usage.wall_ms")) + " in all, " +
                      durationText(numberOf(run, "usage.cpu_ms")) + " processor, " +
                      sizeText(numberOf(run, "usage.peak_memory_bytes")) + " memory";
    if (const std::string limits = textOf(run, "usage.limits_enforcement"); !limits.empty())
        out += "; limits " + limits;
    return out;
}

} // namespace

std::string describeRun(const json::value& run)
{
    std::string out = plain(textOf(run, "id")) + ": " + plain(textOf(run, "state"));
    if (const std::string reason = textOf(run, "reason"); !reason.empty())
        out += " [" + plain(reason) + "]";
    out += '\n' + labelled("because", textOf(run, "message"));
    out += labelled("agent", textOf(run, "agent"));
    for (const json::value& skill : itemsOf(run, "skills"))
        out += labelled("skill", textOf(skill, "name") + " " + std::to_string(numberOf(skill, "number")) + "  " +
                                     textOf(skill, "digest"));
    out += labelled("manifest", textOf(run, "manifest_digest"));
    out += labelled("driver", textOf(run, "driver"));
    out += labelled("base", textOf(run, "base_digest"));
    out += labelled("usage", usageText(run));
    if (const std::string state = textOf(run, "output_check.state"); !state.empty() && state != "pass") {
        out += labelled("output check", state + " (" + textOf(run, "output_check.schema") +
                                            "): " + textOf(run, "output_check.message"));
        for (const json::value& one : itemsOf(run, "output_check.errors"))
            out += labelled("", (textOf(one, "pointer").empty() ? "/" : textOf(one, "pointer")) + ": " +
                                    textOf(one, "message"));
    }
    for (const json::value& one : itemsOf(run, "artifacts"))
        out += labelled("artifact",
                        textOf(one, "id") + "  " + textOf(one, "path") + "  " + sizeText(numberOf(one, "size_bytes")));
    for (const json::value& one : itemsOf(run, "rejected_outputs"))
        out += labelled("left there", textOf(one, "path") + ": " + textOf(one, "reason"));
    return out;
}

} // namespace assay::cli
