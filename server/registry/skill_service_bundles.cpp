// SPDX-License-Identifier: Apache-2.0
#include "server/registry/skill_service.h"

namespace assay::registry {

namespace {

std::unexpected<Error> refuseBundle(const Error& error)
{
    if (error.reason == "digest_mismatch")
        return refuse("digest_mismatch", "the stored bytes of a pinned skill are damaged; nothing was executed",
                      error.detail);
    return refuse("package_store_unavailable",
                  error.code == ErrorCode::NotFound ? "the stored bytes of a pinned skill are missing"
                                                    : "the package store cannot be read now",
                  error.message + "; " + error.detail);
}

} // namespace

Result<store::Bundle> SkillService::bundle(std::string_view scopeFingerprint, const Digest& digest)
{
    auto bundle = m_packages.fetch(scopeFingerprint, digest);
    return bundle ? std::move(bundle) : Result<store::Bundle>(refuseBundle(bundle.error()));
}

Result<void> SkillService::readBundle(std::string_view scopeFingerprint, const Digest& digest,
                                      const store::PieceSink& each)
{
    bool takerFailed = false;
    auto read = m_packages.read(scopeFingerprint, digest, [&](std::string_view piece) {
        auto taken = each(piece);
        takerFailed = !taken;
        return taken;
    });
    return read || takerFailed ? std::move(read) : Result<void>(refuseBundle(read.error()));
}

} // namespace assay::registry
