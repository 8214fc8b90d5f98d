// SPDX-License-Identifier: Apache-2.0
#include "server/store/page_token.h"

#include "server/core/base64.h"
#include "server/core/digest.h"

namespace assay::store {

namespace {

constexpr std::size_t kTagBytes = 12;
constexpr std::size_t kMaxTokenBytes = 2048;

void addPart(Sha256& hash, std::string_view part)
{
    // Length first: no two lists of parts run together into the same bytes.
    hash.update(std::to_string(part.size())).update(":").update(part);
}

std::string tagOf(const ListIdentity& list)
{
    Sha256 hash;
    addPart(hash, "assay-page-v1");
    addPart(hash, list.kind);
    addPart(hash, list.fingerprint);
    for (const std::string_view part : list.filter)
        addPart(hash, part);
    const Digest digest = hash.finish();
    return std::string(digest.bytes().substr(0, kTagBytes));
}

} // namespace

std::string makePageToken(const ListIdentity& list, std::string_view cursor)
{
    return toBase64Url(tagOf(list).append(cursor));
}

Result<std::string> readPageToken(const ListIdentity& list, std::string_view token)
{
    constexpr const char* kRefused = "the page token does not belong to this list; begin again without one";
    if (token.empty())
        return std::string();
    if (token.size() > kMaxTokenBytes)
        return failAt("/page_token", kRefused);
    auto bytes = fromBase64Url(token);
    if (!bytes || bytes->size() <= kTagBytes || bytes->substr(0, kTagBytes) != tagOf(list))
        return failAt("/page_token", kRefused);
    return bytes->substr(kTagBytes);
}

} // namespace assay::store
