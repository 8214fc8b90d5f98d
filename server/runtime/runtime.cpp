// SPDX-License-Identifier: Apache-2.0
#include "server/runtime/runtime.h"

#include "server/http/server.h"
#include "server/runtime/data_directory.h"
#include "server/runtime/metrics_service.h"
#include "server/runtime/prometheus_metrics.h"
#include "server/runtime/services.h"

#include <chrono>
#include <malloc.h>
#include <string>
#include <thread>
#include <vector>

namespace assay::runtime {

namespace {

http::WorkerPool::Options poolOptions(const Settings& settings)
{
    http::WorkerPool::Options options;
    options.maxThreads = settings.workerThreads;
    // What a load has used goes back to the system once it is over.
    options.whenIdle = [] { ::malloc_trim(0); };
    return options;
}

bool isOpenToOthers(const http::ListenAddress& address, bool hasTls)
{
    return !address.isLoopback() && (!hasTls || address.tls == http::ListenAddress::Tls::Off);
}

} // namespace

struct Runtime::State
{
    State(const Settings& settings, Log& given, std::function<void()> onFatal)
        : log(given), metrics(given, std::move(onFatal)), metricsService(metrics), pool(poolOptions(settings))
    {}

    Result<void> listen(const Settings& settings, const DataDirectory& directory);
    Result<std::vector<http::ListenerOptions>> listeners(const Settings& settings);
    void warnAbout(const http::ListenAddress& address, const Settings& settings);

    Log& log;
    PrometheusMetrics metrics;
    MetricsService metricsService;
    std::unique_ptr<ServiceSet> services;
    http::WorkerPool pool; ///< ends before the services that its jobs use
    std::unique_ptr<http::Server> server;
};

/// Unsafe choices are said where operators look (R19).
void Runtime::State::warnAbout(const http::ListenAddress& address, const Settings& settings)
{
    if (isOpenToOthers(address, !settings.tlsCertificate.empty()))
        log.write(LogLevel::Warning,
                  "listening on " + address.host + " without TLS: tokens cross the network in the clear");
    if (address.ingress == http::ListenAddress::Ingress::Trusted)
        log.write(LogLevel::Warning, "whoever reaches the trusted ingress " + address.host + " may act in every scope");
}

Result<std::vector<http::ListenerOptions>> Runtime::State::listeners(const Settings& settings)
{
    std::vector<http::ListenerOptions> out;
    for (const std::string& text : settings.listen) {
        auto address = http::parseListenAddress(text);
        if (!address)
            return forward(address);
        warnAbout(*address, settings);
        out.push_back({std::move(*address), &services->api()});
    }
    if (!settings.metricsListen.empty()) {
        auto address = http::parseListenAddress(settings.metricsListen);
        if (!address)
            return forward(address);
        if (!address->isLoopback())
            log.write(LogLevel::Warning, "metrics are served to whoever reaches " + address->host);
        out.push_back({std::move(*address), &metricsService});
    }
    return out;
}

Result<void> Runtime::State::listen(const Settings& settings, const DataDirectory& directory)
{
    auto wanted = listeners(settings);
    if (!wanted)
        return forward(wanted);
    http::ServerOptions options{.listeners = std::move(*wanted),
                                .limits = settings.http,
                                .ioThreads = settings.ioThreads,
                                .spoolDirectory = directory.scratch(),
                                .tlsCertificate = settings.tlsCertificate,
                                .tlsKey = settings.tlsKey};
    auto started = http::Server::start(std::move(options), pool, metrics);
    if (!started)
        return forward(started);
    server = std::move(*started);
    return {};
}

Result<std::unique_ptr<Runtime>> Runtime::start(const Settings& settings, Log& log, std::function<void()> onFatal)
{
    auto directory = DataDirectory::open(settings.data);
    if (!directory)
        return forward(directory);
    auto state = std::make_unique<State>(settings, log, std::move(onFatal));
    auto services = ServiceSet::open(settings, *directory, log, state->metrics);
    if (!services)
        return forward(services);
    state->services = std::move(*services);
    state->metrics.sampleLoad([set = state->services.get()] {
        const auto load = set->load();
        return PrometheusMetrics::Load{.liveBoxes = load.live, .queuedRuns = load.queued};
    });
    if (auto listening = state->listen(settings, *directory); !listening)
        return forward(listening);
    // A driver counts as ready only after a handshake: make the first one now, beside the first requests.
    if (settings.execution)
        (void)state->pool.post([health = &state->services->health()] { (void)health->handshake(nullptr); });
    return std::unique_ptr<Runtime>(new Runtime(std::move(state)));
}

Runtime::Runtime(std::unique_ptr<State> state) : m_state(std::move(state)) {}

Runtime::~Runtime() { stop(std::chrono::milliseconds(0)); }

std::vector<std::string> Runtime::listening() const { return m_state->server->listening(); }

void Runtime::stop(std::chrono::milliseconds deadline)
{
    if (!m_state->server)
        return;
    // Both at once: a request that waits for a run ends when its run is cancelled.
    std::thread runs([&] { m_state->services->stop(deadline); });
    m_state->server->stop(deadline);
    runs.join();
    m_state->server.reset();
}

} // namespace assay::runtime
