// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/auth/identity.h"
#include "server/core/error.h"
#include "server/core/unique_fd.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace assay::api {

enum class Method : std::uint8_t { Get, Head, Post, Put, Patch, Delete };

/// Which kind of listener took the request: a trusted ingress may name scope, principal and roles in headers.
enum class Trust : std::uint8_t { TokenRequired, TrustedIngress };

/// The head of a request, after the HTTP policy has accepted it. No Beast type, no socket.
struct RequestHead
{
    Method method = Method::Get;
    std::vector<std::string> segments; ///< the path's percent-decoded segments: {"v1", "skills", "demo"}
    std::vector<std::pair<std::string, std::string>> query; ///< percent-decoded, in order; duplicates kept
    std::map<std::string, std::string, std::less<>>
        headers; ///< names in lower case; repeated fields are refused earlier
    Trust trust = Trust::TokenRequired;
    std::optional<std::uint64_t> contentLength;
    bool hasBody = false;

    /// The value of a header field (`name` in lower case); empty view when it is absent.
    std::string_view header(std::string_view name) const
    {
        const auto found = headers.find(name);
        return found == headers.end() ? std::string_view{} : std::string_view(found->second);
    }
};

/// How the server is to take the body of an admitted request.
struct BodyPolicy
{
    std::uint64_t limitBytes = 0; ///< more is `TooLarge`, refused from Content-Length before a byte is read
    bool toFile = false;          ///< spool into an unlinked file: archives
};

/// A body as it was taken: `bytes`, or `file` at offset 0 when the policy said so.
struct Body
{
    std::string bytes;
    UniqueFd file;
    std::uint64_t sizeBytes = 0;
};

struct Event
{
    std::uint64_t id = 0; ///< increasing within its stream
    std::string type;
    std::string data; ///< one line of JSON
};

/// Where an event stream's events come from. `read` never blocks; `notify` is called once, from any thread, when there
/// is more than the last `read` gave or the stream has ended. Destroying the source cancels its notification.
class EventSource
{
public:
    virtual ~EventSource() = default;
    struct Batch
    {
        std::vector<Event> events;
        bool ended = false; ///< nothing will follow
    };
    virtual Batch read(std::size_t maxEvents) = 0;
    virtual void onReady(std::function<void()> notify) = 0;
};

/// A reply. `body` is bytes, a shared buffer that is not copied, or an event stream.
struct Reply
{
    struct Shared
    {
        std::string_view bytes;
        std::shared_ptr<const void> storage;
    };
    int status = 200;
    std::vector<std::pair<std::string, std::string>> headers;
    std::variant<std::string, Shared, std::unique_ptr<EventSource>> body;
};

/// A request whose head was accepted: routed, authenticated and with a sufficient role.
class Admitted
{
public:
    virtual ~Admitted() = default;
    /// The route's template, for metrics: "/v1/skills/{name}". Lives as long as the program; never a raw path.
    virtual std::string_view route() const { return "none"; }
    virtual BodyPolicy bodyPolicy() const = 0;
    /// Runs the operation; called at most once, on a worker thread, may block. Errors have become problem replies.
    virtual Reply handle(Body body) = 0;
};

/// The API as the HTTP server sees it. Thread-safe; both calls may block and run on a worker thread.
class Service
{
public:
    virtual ~Service() = default;
    /// Route, authenticate, check the role; nothing else is looked up. A refusal is a finished reply.
    virtual std::expected<std::unique_ptr<Admitted>, Reply> admit(RequestHead head) = 0;
    /// The problem document (RFC 9457) for a failure that the HTTP layer found itself.
    virtual Reply problem(const Error& error) = 0;
};

} // namespace assay::api
