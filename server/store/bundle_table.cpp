// SPDX-License-Identifier: Apache-2.0
#include "server/store/bundle_table.h"

#include <algorithm>

namespace assay::store {

namespace {

struct Sql
{
    std::string_view insert;
    std::string_view select;
    std::string_view remove;
    std::string_view list;
};

constexpr Sql kSql[] = {
    {"INSERT INTO bundles(fingerprint, digest, part, size_bytes, bytes) VALUES(?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
     "SELECT size_bytes, bytes FROM bundles WHERE fingerprint = ? AND digest = ? ORDER BY part",
     "DELETE FROM bundles WHERE fingerprint = ? AND digest = ?",
     "SELECT fingerprint, digest, size_bytes FROM bundles WHERE (fingerprint, digest) > (?, ?) AND part = 0"
     " ORDER BY fingerprint, digest LIMIT ?"},
    {"INSERT INTO artifact_bundles(fingerprint, digest, part, size_bytes, bytes) VALUES(?, ?, ?, ?, ?)"
     " ON CONFLICT DO NOTHING",
     "SELECT size_bytes, bytes FROM artifact_bundles WHERE fingerprint = ? AND digest = ? ORDER BY part",
     "DELETE FROM artifact_bundles WHERE fingerprint = ? AND digest = ?",
     "SELECT fingerprint, digest, size_bytes FROM artifact_bundles WHERE (fingerprint, digest) > (?, ?) AND part = 0"
     " ORDER BY fingerprint, digest LIMIT ?"},
};

const Sql& sqlOf(BundleKind kind) { return kSql[static_cast<std::size_t>(kind)]; }

/// Hands out consecutive stretches of `pieces` as if they were one string.
class PieceReader
{
public:
    explicit PieceReader(std::span<const std::string_view> pieces) : m_pieces(pieces) {}

    void take(std::string& out, std::size_t count)
    {
        out.clear();
        out.reserve(count);
        while (out.size() < count && !m_pieces.empty()) {
            const std::string_view rest = m_pieces.front().substr(m_offset);
            const std::size_t used = std::min(rest.size(), count - out.size());
            out.append(rest.substr(0, used));
            m_offset += used;
            if (used == rest.size()) {
                m_pieces = m_pieces.subspan(1);
                m_offset = 0;
            }
        }
    }

private:
    std::span<const std::string_view> m_pieces;
    std::size_t m_offset = 0;
};

} // namespace

Result<bool> BundleTable::put(std::string_view fingerprint, const Digest& digest,
                              std::span<const std::string_view> pieces)
{
    std::size_t sizeBytes = 0;
    for (const std::string_view piece : pieces)
        sizeBytes += piece.size();
    // One piece that fits is bound where it lies.
    if (pieces.size() == 1 && sizeBytes <= kPartBytes)
        return putPart(fingerprint, digest, 0, sizeBytes, pieces.front());
    PieceReader reader(pieces);
    std::string bytes;
    std::size_t left = sizeBytes;
    std::int64_t part = 0;
    do {
        const std::size_t count = std::min(left, kPartBytes);
        reader.take(bytes, count);
        auto isNew = putPart(fingerprint, digest, part++, sizeBytes, bytes);
        if (!isNew || !*isNew)
            return isNew;
        left -= count;
    } while (left > 0);
    return true;
}

Result<bool> BundleTable::putPart(std::string_view fingerprint, const Digest& digest, std::int64_t part,
                                  std::size_t sizeBytes, std::string_view bytes)
{
    auto query = m_connection.prepare(sqlOf(m_kind).insert);
    if (!query)
        return forward(query);
    query->bind(fingerprint).bindBlob(digest.bytes()).bind(part).bind(static_cast<std::int64_t>(sizeBytes));
    if (auto done = query->bindBlob(bytes).run(); !done)
        return forward(done);
    return m_connection.changes() > 0;
}

Result<std::optional<std::string>> BundleTable::find(std::string_view fingerprint, const Digest& digest)
{
    constexpr std::size_t kMaxReserve = 256U << 20;
    auto query = m_connection.prepare(sqlOf(m_kind).select);
    if (!query)
        return forward(query);
    query->bind(fingerprint).bindBlob(digest.bytes());
    std::optional<std::string> out;
    for (;;) {
        const auto row = query->step();
        if (!row)
            return std::unexpected(row.error());
        if (!*row)
            return out;
        if (!out) {
            out.emplace();
            // The stored size is a hint only: the digest decides.
            out->reserve(std::min(static_cast<std::size_t>(std::max<std::int64_t>(query->integer(0), 0)), kMaxReserve));
        }
        out->append(query->blob(1));
    }
}

Result<bool> BundleTable::forEachPart(std::string_view fingerprint, const Digest& digest, const PieceSink& each)
{
    auto query = m_connection.prepare(sqlOf(m_kind).select);
    if (!query)
        return forward(query);
    query->bind(fingerprint).bindBlob(digest.bytes());
    for (bool any = false;; any = true) {
        const auto row = query->step();
        if (!row)
            return std::unexpected(row.error());
        if (!*row)
            return any;
        if (auto taken = each(query->blob(1)); !taken)
            return forward(taken);
    }
}

Result<bool> BundleTable::remove(std::string_view fingerprint, const Digest& digest)
{
    auto query = m_connection.prepare(sqlOf(m_kind).remove);
    if (!query)
        return forward(query);
    if (auto done = query->bind(fingerprint).bindBlob(digest.bytes()).run(); !done)
        return forward(done);
    return m_connection.changes() > 0;
}

Result<std::vector<StoredBundle>> BundleTable::list(const BundleKey* after, std::uint32_t limit)
{
    auto query = m_connection.prepare(sqlOf(m_kind).list);
    if (!query)
        return forward(query);
    query->bind(after ? std::string_view(after->scopeFingerprint) : std::string_view());
    query->bindBlob(after ? after->digest.bytes() : std::string_view()).bind(std::int64_t{limit});
    std::vector<StoredBundle> out;
    for (;;) {
        const auto row = query->step();
        if (!row)
            return std::unexpected(row.error());
        if (!*row)
            return out;
        // A damaged key is nobody's bundle: nothing finds it, and nothing is removed by a guess.
        if (const auto digest = Digest::fromBytes(query->blob(1)))
            out.push_back({.key = {std::string(query->text(0)), *digest},
                           .sizeBytes = static_cast<std::uint64_t>(std::max<std::int64_t>(query->integer(2), 0))});
    }
}

} // namespace assay::store
