// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace assay::runs {

/// How many callers may wait for runs at once. A wait holds one of the server's worker threads, so those that wait must
/// leave threads for those that do not. Thread-safe; outlives its places.
class WaitPlaces
{
public:
    explicit WaitPlaces(unsigned most) : m_most(most) {}

    /// A place, until it is destroyed; false when all were taken: then the caller answers at once.
    class Place
    {
    public:
        explicit Place(WaitPlaces& owner) : m_owner(owner), m_isTaken(++owner.m_waiting <= owner.m_most) {}
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        ~Place() { --m_owner.m_waiting; }
        explicit operator bool() const { return m_isTaken; }

    private:
        WaitPlaces& m_owner;
        bool m_isTaken;
    };

private:
    const unsigned m_most;
    std::atomic<unsigned> m_waiting{0};
};

} // namespace assay::runs
