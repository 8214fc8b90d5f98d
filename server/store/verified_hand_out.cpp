// SPDX-License-Identifier: Apache-2.0
#include "server/store/verified_hand_out.h"

#include "server/store/verified_bundle.h"

namespace assay::store {

namespace {

/// Below this, waking a thread costs more than it saves.
constexpr std::size_t kWorthAThread = 128U << 10;

} // namespace

VerifiedHandOut::~VerifiedHandOut()
{
    if (!m_hasher.joinable())
        return;
    {
        const std::scoped_lock lock(m_mutex);
        m_stop = true;
    }
    m_changed.notify_all();
    m_hasher.join();
}

Result<void> VerifiedHandOut::add(std::string_view piece)
{
    if (piece.size() < kWorthAThread) {
        awaitHash();
        m_hash.update(piece);
        return m_each(piece);
    }
    std::string& buffer = m_buffers[m_turn];
    m_turn = 1 - m_turn;
    buffer.assign(piece);
    awaitHash();
    startHashing(buffer);
    return m_each(buffer);
}

Result<void> VerifiedHandOut::finish(const Digest& digest)
{
    awaitHash();
    return m_hash.finish() == digest ? Result<void>{} : Result<void>(failDamagedBundle(digest));
}

void VerifiedHandOut::startHashing(std::string_view piece)
{
    {
        const std::scoped_lock lock(m_mutex);
        m_piece = piece;
    }
    if (m_hasher.joinable())
        m_changed.notify_all();
    else
        m_hasher = std::thread([this] { hashPieces(); });
}

void VerifiedHandOut::awaitHash()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_piece.empty(); });
}

void VerifiedHandOut::hashPieces()
{
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_changed.wait(lock, [this] { return m_stop || !m_piece.empty(); });
        if (m_piece.empty())
            return;
        const std::string_view piece = m_piece;
        lock.unlock();
        m_hash.update(piece);
        lock.lock();
        m_piece = {};
        m_changed.notify_all();
    }
}

} // namespace assay::store
