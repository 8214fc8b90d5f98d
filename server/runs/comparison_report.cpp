// SPDX-License-Identifier: Apache-2.0
#include "server/runs/comparison_report.h"

#include <algorithm>
#include <map>

namespace assay::runs {

namespace {

constexpr std::size_t kMaxDifferences = 200;
constexpr std::size_t kMaxJsonBytes = 4U << 20; ///< longer output is compared as bytes only

class JsonDiff
{
public:
    JsonDiff(std::size_t limit, std::vector<contract::JsonDifference>& out) : m_limit(limit), m_out(out) {}

    bool more() const { return m_more; }

    void compare(const std::string& pointer, const json::value& from, const json::value& to)
    {
        if (from.is_object() && to.is_object())
            return compareObjects(pointer, from.get_object(), to.get_object());
        if (from.is_array() && to.is_array())
            return compareArrays(pointer, from.get_array(), to.get_array());
        if (canonicalJson(from) != canonicalJson(to))
            add({pointer, "changed", from, to});
    }

private:
    void compareObjects(const std::string& pointer, const json::object& from, const json::object& to)
    {
        for (const auto& member : from) {
            const std::string at = pointer + "/" + pointerToken(member.key());
            if (const json::value* other = to.if_contains(member.key()))
                compare(at, member.value(), *other);
            else
                add({at, "removed", member.value(), {}});
        }
        for (const auto& member : to)
            if (!from.contains(member.key()))
                add({pointer + "/" + pointerToken(member.key()), "added", {}, member.value()});
    }

    void compareArrays(const std::string& pointer, const json::array& from, const json::array& to)
    {
        for (std::size_t i = 0; i < std::max(from.size(), to.size()) && !m_more; ++i) {
            const std::string at = pointer + "/" + std::to_string(i);
            if (i >= to.size())
                add({at, "removed", from[i], {}});
            else if (i >= from.size())
                add({at, "added", {}, to[i]});
            else
                compare(at, from[i], to[i]);
        }
    }

    void add(contract::JsonDifference difference)
    {
        if (m_out.size() < m_limit)
            m_out.push_back(std::move(difference));
        else
            m_more = true;
    }

    std::size_t m_limit;
    std::vector<contract::JsonDifference>& m_out;
    bool m_more = false;
};

/// One stream of a command, in full unless some of it was dropped.
struct Stream
{
    std::string_view bytes;
    std::uint64_t total = 0;
};

contract::OutputPair pairOf(const Stream& from, const Stream& to)
{
    contract::OutputPair out;
    const bool isWhole = from.bytes.size() == from.total && to.bytes.size() == to.total;
    // What was dropped cannot be compared: such outputs do not count as equal.
    out.equal = isWhole && from.bytes == to.bytes;
    if (!isWhole || from.total > kMaxJsonBytes || to.total > kMaxJsonBytes)
        return out;
    const auto left = parseJson(from.bytes);
    const auto right = parseJson(to.bytes);
    out.bothJson = left && right;
    if (out.bothJson)
        out.more = diffJson(*left, *right, kMaxDifferences, out.differences);
    return out;
}

const contract::CommandResult& commandOf(const contract::Run& run)
{
    static const contract::CommandResult none;
    return run.commands.empty() ? none : run.commands.front();
}

std::vector<contract::ArtifactPair> pairArtifacts(const contract::Run& from, const contract::Run& to)
{
    std::map<std::string, contract::ArtifactPair> pairs;
    for (const contract::Artifact& artifact : from.artifacts)
        pairs[artifact.path].from = artifact;
    for (const contract::Artifact& artifact : to.artifacts)
        pairs[artifact.path].to = artifact;
    std::vector<contract::ArtifactPair> out;
    for (auto& [path, pair] : pairs) {
        pair.path = path;
        if (!pair.from || !pair.to)
            pair.status = pair.from ? "only_from" : "only_to";
        else
            pair.status = pair.from->sha256 == pair.to->sha256 ? "equal" : "differs";
        out.push_back(std::move(pair));
    }
    return out;
}

} // namespace

bool diffJson(const json::value& from, const json::value& to, std::size_t limit,
              std::vector<contract::JsonDifference>& out)
{
    JsonDiff diff(limit, out);
    diff.compare("", from, to);
    return diff.more();
}

contract::Comparison compareRuns(const store::ComparisonRow& row, contract::Run from, contract::Run to)
{
    contract::Comparison out;
    out.id = row.id;
    out.skill = row.skill;
    out.sample = row.sample;
    out.state = from.endedAt && to.endedAt ? "ended" : "running";
    out.fromRevision = row.fromRevision;
    out.toRevision = row.toRevision;
    out.startedBy = row.startedBy;
    out.startedAt = row.startedAt;
    const auto& left = commandOf(from);
    const auto& right = commandOf(to);
    out.standardOutput = pairOf({left.stdoutBytes, left.stdoutTotal}, {right.stdoutBytes, right.stdoutTotal});
    out.standardError = pairOf({left.stderrBytes, left.stderrTotal}, {right.stderrBytes, right.stderrTotal});
    out.artifacts = pairArtifacts(from, to);
    out.equal =
        out.state == "ended" && from.state == to.state && left.exitCode == right.exitCode &&
        left.signal == right.signal && left.termination == right.termination && out.standardOutput.equal &&
        out.standardError.equal &&
        std::ranges::all_of(out.artifacts, [](const contract::ArtifactPair& pair) { return pair.status == "equal"; });
    out.from = std::move(from);
    out.to = std::move(to);
    return out;
}

} // namespace assay::runs
