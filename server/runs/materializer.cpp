// SPDX-License-Identifier: Apache-2.0
#include "server/runs/materializer.h"

#include "server/core/file_io.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fcntl.h>
#include <format>
#include <ranges>
#include <thread>
#include <unistd.h>

namespace assay::runs {

namespace {

using std::chrono::milliseconds;
constexpr std::array kPauses{milliseconds(50), milliseconds(250)}; ///< after each failed try but the last

Result<sandbox::PinnedPackage> pinnedPackage(const registry::PinnedSkill& skill, const std::filesystem::path& tree)
{
    sandbox::PinnedPackage out{.name = skill.name, .digest = skill.digest, .tree = tree, .files = {}};
    out.files.reserve(skill.files.size());
    for (const auto& file : skill.files) {
        auto sha256 = Digest::parse(file.sha256);
        if (!sha256)
            return refuse("materialization_failed", "the catalog's list of a skill's files cannot be read");
        out.files.push_back(
            {.path = file.path, .sha256 = *sha256, .sizeBytes = file.sizeBytes, .executable = file.executable});
    }
    return out;
}

std::unexpected<Error> refuseSkill(const registry::PinnedSkill& skill, Error error)
{
    if (error.code == ErrorCode::Refused)
        return std::unexpected(std::move(error));
    return refuse("materialization_failed",
                  std::format("skill \"{}\" could not be materialized on this server: {}", skill.name, error.message),
                  error.detail);
}

} // namespace

Result<TreeLease> Materializer::acquire(const RunPlan& plan, const registry::PinnedSkill& skill)
{
    const TreeKey key{plan.scopeFingerprint, plan.storeIdentity, skill.digest};
    const auto footprint =
        TreeCache::footprintOf(skill.files | std::views::transform(&contract::RevisionFile::sizeBytes));
    const auto fetch = [&](const store::PieceSink& each) {
        return m_catalog.readBundle(plan.scopeFingerprint, skill.digest, each);
    };
    for (std::size_t attempt = 0;; ++attempt) {
        auto lease = m_cache.acquire(key, fetch, footprint);
        if (lease || lease.error().reason != "package_store_unavailable" || attempt == kPauses.size())
            return lease;
        std::this_thread::sleep_for(kPauses[attempt]);
    }
}

Result<Materializer::Trees> Materializer::materialize(const RunPlan& plan)
{
    Trees out;
    for (const auto& skill : plan.skills) {
        auto lease = acquire(plan, skill);
        if (!lease)
            return refuseSkill(skill, std::move(lease).error());
        auto package = pinnedPackage(skill, lease->path());
        if (!package)
            return forward(package);
        out.packages.push_back(std::move(*package));
        out.allHits = out.allHits && lease->wasHit();
        out.bytes += lease->wasHit() ? 0 : lease->bytes();
        out.leases.push_back(std::move(*lease));
    }
    return out;
}

void Materializer::distrust(const RunPlan& plan)
{
    for (const auto& skill : plan.skills)
        m_cache.drop({plan.scopeFingerprint, plan.storeIdentity, skill.digest});
}

std::string Materializer::firstBytes(const Trees& trees, std::string_view skill, std::string_view path)
{
    const auto package = std::ranges::find(trees.packages, skill, &sandbox::PinnedPackage::name);
    if (package == trees.packages.end())
        return {};
    const auto fd = openFile(package->tree / path, O_RDONLY | O_NOFOLLOW);
    std::array<char, 4> bytes{};
    const auto count = fd ? ::read(fd->get(), bytes.data(), bytes.size()) : -1;
    return count > 0 ? std::string(bytes.data(), static_cast<std::size_t>(count)) : std::string();
}

} // namespace assay::runs
