// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/http/worker_pool.h"

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>

namespace assay::http {

/// Runs `job` on a worker and resumes the coroutine on its own executor when it has returned. `job` must not throw;
/// what it refers to must live until then, which a coroutine's frame does. False, and nothing run, when the pool is
/// full.
template <typename Job> boost::asio::awaitable<bool> offload(WorkerPool& pool, Job& job)
{
    namespace asio = boost::asio;
    auto start = [&pool, &job](auto handler) {
        auto executor = asio::get_associated_executor(handler);
        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        auto guard = asio::make_work_guard(executor);
        auto run = [&job, shared, executor, guard = std::move(guard)]() mutable {
            job();
            asio::post(executor, [shared = std::move(shared)] { std::move (*shared)(true); });
        };
        if (!pool.post(std::move(run)))
            asio::post(executor, [shared] { std::move (*shared)(false); });
    };
    co_return co_await asio::async_initiate<const asio::use_awaitable_t<>, void(bool)>(std::move(start),
                                                                                       asio::use_awaitable);
}

} // namespace assay::http
