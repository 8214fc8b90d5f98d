// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/package_store.h"

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace assay::store {

/// Hands the pieces of a bundle on while a second thread hashes them: reading and writing cost as much as hashing, so a
/// large bundle takes half the time. One of a single small piece starts no thread. Used by one thread, once.
class VerifiedHandOut
{
public:
    explicit VerifiedHandOut(const PieceSink& each) : m_each(each) {}
    ~VerifiedHandOut();
    VerifiedHandOut(const VerifiedHandOut&) = delete;
    VerifiedHandOut& operator=(const VerifiedHandOut&) = delete;

    /// Passes on the sink's error. `piece` may go as soon as this returns.
    Result<void> add(std::string_view piece);
    /// After the last piece: `Internal` with reason `digest_mismatch` when their digest is another one.
    Result<void> finish(const Digest& digest);

private:
    void startHashing(std::string_view piece);
    void awaitHash();
    void hashPieces();

    const PieceSink& m_each;
    Sha256 m_hash;
    /// One is hashed and written while the other is filled.
    std::array<std::string, 2> m_buffers;
    std::size_t m_turn = 0;
    std::mutex m_mutex; ///< guards m_piece and m_stop; the hash belongs to the thread while there is a piece
    std::condition_variable m_changed;
    std::string_view m_piece;
    bool m_stop = false;
    std::thread m_hasher;
};

} // namespace assay::store
