// SPDX-License-Identifier: Apache-2.0
#include "server/store/writer.h"

#include <exception>

namespace assay::store {

Writer::Writer(std::unique_ptr<Connection> connection, Limits limits)
    : m_connection(std::move(connection)), m_limits(limits), m_thread([this] { loop(); })
{}

Writer::~Writer()
{
    {
        const std::scoped_lock lock(m_mutex);
        m_isStopping = true;
    }
    m_arrived.notify_one();
    m_thread.join();
}

Result<void> Writer::submit(const Work& work)
{
    const auto job = std::make_shared<Job>();
    job->work = &work;
    {
        const std::scoped_lock lock(m_mutex);
        if (m_waiting.size() >= m_limits.maxWaiting)
            return fail(ErrorCode::Unavailable, "too many changes wait for the database (" +
                                                    std::to_string(m_limits.maxWaiting) + "); try again later");
        m_waiting.push_back(job);
    }
    m_arrived.notify_one();
    std::unique_lock lock(job->mutex);
    if (!job->ended.wait_for(lock, kQueueDeadline, [&] { return job->isDone; })) {
        lock.unlock();
        if (takeBack(job))
            return fail(ErrorCode::Unavailable, "the database did not take the change within " +
                                                    std::to_string(kQueueDeadline.count()) +
                                                    " s; nothing was changed. Try again later");
        lock.lock();
        // It runs: `work` is in use until it has ended, and it ends, for SQLite waits for nobody.
        job->ended.wait(lock, [&] { return job->isDone; });
    }
    return std::move(job->result);
}

bool Writer::takeBack(const JobPointer& job)
{
    const std::scoped_lock lock(m_mutex);
    return std::erase(m_waiting, job) > 0;
}

void Writer::loop()
{
    while (JobPointer first = waitForJob())
        runBatch(std::move(first));
}

Writer::JobPointer Writer::waitForJob()
{
    std::unique_lock lock(m_mutex);
    m_arrived.wait(lock, [&] { return m_isStopping || !m_waiting.empty(); });
    if (m_waiting.empty())
        return nullptr;
    JobPointer job = std::move(m_waiting.front());
    m_waiting.pop_front();
    return job;
}

Writer::JobPointer Writer::takeJob()
{
    const std::scoped_lock lock(m_mutex);
    if (m_waiting.empty())
        return nullptr;
    JobPointer job = std::move(m_waiting.front());
    m_waiting.pop_front();
    return job;
}

void Writer::runBatch(JobPointer first)
{
    const auto closing = std::chrono::steady_clock::now() + kBatchTime;
    std::vector<JobPointer> batch;
    Result<void> outcome = m_connection->run("BEGIN IMMEDIATE");
    for (JobPointer job = std::move(first); job != nullptr; job = takeJob()) {
        batch.push_back(job);
        if (!outcome || !runJob(*job)) {
            if (outcome)
                outcome = std::unexpected(job->result.error());
            break;
        }
        if (batch.size() >= m_limits.maxBatch || std::chrono::steady_clock::now() >= closing)
            break;
    }
    if (outcome)
        outcome = m_connection->run("COMMIT");
    if (!outcome && m_connection->inTransaction())
        (void)m_connection->run("ROLLBACK");
    for (const JobPointer& job : batch) {
        if (!outcome && job->result)
            job->result = outcome;
        answer(job);
    }
}

// False when the whole transaction is lost, and with it what the jobs before this one did.
bool Writer::runJob(Job& job)
{
    if (auto begun = m_connection->run("SAVEPOINT job"); !begun) {
        job.result = std::move(begun);
        return false;
    }
    job.result = attempt(*job.work, *m_connection);
    // SQLite itself rolls everything back after some failures, a full disk among them.
    if (!m_connection->inTransaction()) {
        if (job.result)
            job.result = fail(ErrorCode::Internal, "a change ended the transaction it ran in");
        return false;
    }
    auto ended = job.result ? Result<void>{} : m_connection->run("ROLLBACK TO job");
    if (ended)
        ended = m_connection->run("RELEASE job");
    if (ended)
        return true;
    job.result = std::move(ended);
    return false;
}

Result<void> Writer::attempt(const Work& work, Connection& connection)
{
    try {
        return work(connection);
    } catch (const std::exception& error) {
        return fail(ErrorCode::Internal, "the server failed to make the change", error.what());
    }
}

void Writer::answer(const JobPointer& job)
{
    {
        const std::scoped_lock lock(job->mutex);
        job->isDone = true;
    }
    job->ended.notify_one();
}

} // namespace assay::store
