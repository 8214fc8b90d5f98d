// SPDX-License-Identifier: Apache-2.0
#include "server/runtime/prometheus_metrics.h"

#include <map>
#include <mutex>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace assay::runtime {

namespace {

const prometheus::Histogram::BucketBoundaries& secondsBuckets()
{
    static const prometheus::Histogram::BucketBoundaries bounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                                0.25,   0.5,   1,      2.5,   5,    10,    60};
    return bounds;
}

const prometheus::Histogram::BucketBoundaries& bytesBuckets()
{
    static const prometheus::Histogram::BucketBoundaries bounds{1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
    return bounds;
}

struct CountName
{
    const char* name;
    const char* help;
};

CountName nameOf(Count what)
{
    switch (what) {
    case Count::DigestMismatch:
        return {"assay_digest_failures_total", "Packages whose bytes were not those of their digest"};
    case Count::BoxStarted:
        return {"assay_box_starts_total", "Boxes that were started"};
    case Count::BoxRemoved:
        return {"assay_boxes_removed_total", "Boxes that were removed whole"};
    case Count::CleanupFailed:
        break;
    }
    return {"assay_cleanup_failures_total", "Boxes of which something was left at first"};
}

/// Identifies one series of requests without building its labels; the views live as long as the program.
struct SeriesKey
{
    std::string_view method;
    std::string_view route;
    int status = 0;
    auto operator<=>(const SeriesKey&) const = default;
};

struct Series
{
    prometheus::Counter* count = nullptr;
    prometheus::Histogram* seconds = nullptr;
};

} // namespace

struct PrometheusMetrics::State
{
    State(Log& given, std::function<void()> fatal) : log(given), onFatal(std::move(fatal)) {}

    Series series(const Request& request);
    prometheus::Counter& counter(const char* name, const char* help, const prometheus::Labels& labels = {})
    {
        return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add(labels);
    }
    prometheus::Gauge& gauge(const char* name, const char* help)
    {
        return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
    }
    prometheus::Histogram& histogram(const char* name, const char* help, const prometheus::Labels& labels,
                                     const prometheus::Histogram::BucketBoundaries& bounds)
    {
        return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add(labels, bounds);
    }

    Log& log;
    std::function<void()> onFatal;
    prometheus::Registry registry;
    prometheus::Gauge& connections = gauge("assay_http_connections", "Open connections");
    prometheus::Gauge& eventStreams = gauge("assay_http_event_streams", "Open event streams");
    prometheus::Counter& bytesOut = counter("assay_http_bytes_sent_total", "Bytes of replies");
    prometheus::Gauge& liveBoxes = gauge("assay_boxes_live", "Runs that hold a box now");
    prometheus::Gauge& queuedRuns = gauge("assay_runs_queued", "Runs that wait for a box now");
    std::mutex mutex;
    std::map<SeriesKey, Series> known;
    std::mutex loadMutex;
    std::function<Load()> load;
};

Series PrometheusMetrics::State::series(const Request& request)
{
    const std::scoped_lock lock(mutex);
    Series& found = known[{request.method, request.route, request.status}];
    if (found.count == nullptr) {
        const std::string method(request.method);
        const std::string route(request.route);
        found.count = &counter("assay_http_requests_total", "Answered requests",
                               {{"method", method}, {"route", route}, {"status", std::to_string(request.status)}});
        found.seconds =
            &histogram("assay_http_request_seconds", "From the end of a request's head to the end of its reply",
                       {{"method", method}, {"route", route}}, secondsBuckets());
    }
    return found;
}

PrometheusMetrics::PrometheusMetrics(Log& log, std::function<void()> onFatal)
    : m_state(std::make_unique<State>(log, std::move(onFatal)))
{}

PrometheusMetrics::~PrometheusMetrics() = default;

void PrometheusMetrics::sampleLoad(std::function<Load()> sample)
{
    const std::scoped_lock lock(m_state->loadMutex);
    m_state->load = std::move(sample);
}

std::string PrometheusMetrics::exposition() const
{
    {
        const std::scoped_lock lock(m_state->loadMutex);
        const Load now = m_state->load ? m_state->load() : Load{};
        m_state->liveBoxes.Set(now.liveBoxes);
        m_state->queuedRuns.Set(now.queuedRuns);
    }
    return prometheus::TextSerializer().Serialize(m_state->registry.Collect());
}

void PrometheusMetrics::onRequest(const Request& request)
{
    const Series series = m_state->series(request);
    series.count->Increment();
    series.seconds->Observe(std::chrono::duration<double>(request.duration).count());
    m_state->bytesOut.Increment(static_cast<double>(request.bytesOut));
    const LogLevel level = request.status >= 500 ? LogLevel::Warning : LogLevel::Debug;
    if (m_state->log.writes(level))
        m_state->log.write(level, "answered",
                           {.request = request.id,
                            .method = request.method,
                            .route = request.route,
                            .status = request.status,
                            .took = std::chrono::duration_cast<std::chrono::microseconds>(request.duration)});
}

void PrometheusMetrics::onConnections(int delta) { m_state->connections.Increment(delta); }

void PrometheusMetrics::onEventStreams(int delta) { m_state->eventStreams.Increment(delta); }

void PrometheusMetrics::onRefused(std::string_view reason)
{
    m_state
        ->counter("assay_http_refused_total", "Connections and requests refused by a limit or the policy",
                  {{"reason", std::string(reason)}})
        .Increment();
}

void PrometheusMetrics::onFault(std::string_view what)
{
    m_state->log.write(LogLevel::Error, std::string("a request was lost: ") + std::string(what));
}

void PrometheusMetrics::onFatal(std::string_view what)
{
    m_state->log.write(LogLevel::Error, std::string("the server cannot go on: ") + std::string(what));
    m_state->onFatal();
}

void PrometheusMetrics::add(Count what, std::uint64_t by)
{
    const auto [name, help] = nameOf(what);
    m_state->counter(name, help).Increment(static_cast<double>(by));
}

void PrometheusMetrics::materialized(std::chrono::nanoseconds took, std::uint64_t bytes)
{
    m_state->histogram("assay_materialization_seconds", "Materializing packages into a box", {}, secondsBuckets())
        .Observe(std::chrono::duration<double>(took).count());
    m_state->histogram("assay_materialization_bytes", "Bytes of packages materialized into a box", {}, bytesBuckets())
        .Observe(static_cast<double>(bytes));
}

void PrometheusMetrics::published(Publish how, std::string_view outcome)
{
    if (how == Publish::Done)
        m_state->counter("assay_publishes_total", "Publishes, by what they made", {{"outcome", std::string(outcome)}})
            .Increment();
    else
        m_state
            ->counter("assay_publish_failures_total", "Publishes that were rejected or failed",
                      {{"code", std::string(outcome)}})
            .Increment();
}

void PrometheusMetrics::cached(std::string_view backend, std::uint64_t hits, std::uint64_t misses)
{
    const prometheus::Labels labels{{"backend", std::string(backend)}};
    m_state->counter("assay_package_cache_hits_total", "Package trees that were there already", labels)
        .Increment(static_cast<double>(hits));
    m_state->counter("assay_package_cache_misses_total", "Package trees that had to be made", labels)
        .Increment(static_cast<double>(misses));
}

void PrometheusMetrics::commandEnded(std::chrono::milliseconds took, std::string_view termination)
{
    m_state->histogram("assay_command_seconds", "Commands in boxes, from start to end", {}, secondsBuckets())
        .Observe(std::chrono::duration<double>(took).count());
    m_state
        ->counter("assay_commands_total", "Commands in boxes, by how they ended",
                  {{"termination", std::string(termination)}})
        .Increment();
}

void PrometheusMetrics::runEnded(std::string_view state)
{
    m_state->counter("assay_runs_total", "Runs that ended, by their last state", {{"state", std::string(state)}})
        .Increment();
}

void PrometheusMetrics::denied(std::string_view reason)
{
    m_state
        ->counter("assay_access_denied_total", "Requests turned away before anything was looked up",
                  {{"reason", std::string(reason)}})
        .Increment();
}

void PrometheusMetrics::collected(std::string_view kind, std::uint64_t count, std::uint64_t bytes)
{
    const prometheus::Labels labels{{"kind", std::string(kind)}};
    m_state->counter("assay_collected_total", "What collections removed", labels).Increment(static_cast<double>(count));
    m_state->counter("assay_collected_bytes_total", "Bytes of what collections removed", labels)
        .Increment(static_cast<double>(bytes));
}

void PrometheusMetrics::collection(std::chrono::nanoseconds took, bool complete)
{
    m_state->histogram("assay_collection_seconds", "Collections", {}, secondsBuckets())
        .Observe(std::chrono::duration<double>(took).count());
    m_state
        ->counter("assay_collections_total", "Collections, by whether they came to their end",
                  {{"complete", complete ? "true" : "false"}})
        .Increment();
}

} // namespace assay::runtime
