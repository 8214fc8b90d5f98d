// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The closed set of failures a caller can meet. `traits()` maps each to its HTTP status, its problem `code` (api.md,
/// "Conventions"), the exit status of `assayctl` and the key of its translation.
enum class ErrorCode : std::uint8_t {
    InvalidArgument,
    Unauthenticated,
    PermissionDenied,
    NotFound,
    MethodNotAllowed,
    Conflict,
    PreconditionFailed,
    PreconditionRequired,
    TooLarge,
    UnsupportedMedia,
    InvalidPackage,
    Refused,
    RateLimited,
    Cancelled,
    Internal,
    Unavailable,
    Timeout,
};

/// How one `ErrorCode` shows itself at each surface. The strings live as long as the program.
struct ErrorTraits
{
    std::string_view code;           ///< the stable `code` of a problem document
    std::string_view title;          ///< a short English title, the same for every occurrence
    std::string_view translationKey; ///< what the window looks up
    int httpStatus;
    int exitStatus; ///< of `assayctl`: 1 failed, 2 usage, 3 unreachable, 4 refused or denied, 5 invalid package
};

/// Never fails: every enumerator has a row. Thread-safe.
const ErrorTraits& traits(ErrorCode code);

/// The code whose problem `code` is `name`; empty when there is none. Used by clients that read a problem document.
std::optional<ErrorCode> errorCodeNamed(std::string_view name);

/// One entry of a problem document's `errors[]`: a finding in a package (`code`, `path`, `line`, `column`) or a fault
/// of a request (`pointer`, RFC 6901). Lines and columns count from 1; columns count Unicode code points.
struct Problem
{
    std::string code;
    std::string message;
    std::string path;
    std::string pointer;
    std::optional<std::uint32_t> line;
    std::optional<std::uint32_t> column;
    /// Lints only: the client whose behaviour the finding is about ("all", "claude-code", ...).
    std::string client;

    bool operator==(const Problem&) const = default;
};

/// A failure as a value. `message` is safe to show to whoever made the request; `detail` goes to the log and never to a
/// remote client. Neither may hold a secret.
struct Error
{
    ErrorCode code = ErrorCode::Internal;
    std::string message;
    std::string detail;
    /// With `Refused`: the stable reason of api.md ("skill_not_found", "driver_unavailable", ...).
    std::string reason;
    std::vector<Problem> problems;
};

template <typename T> using Result = std::expected<T, Error>;

/// `return fail(ErrorCode::NotFound, "there is no skill of this name");`
std::unexpected<Error> fail(ErrorCode code, std::string message, std::string detail = {});

/// An `InvalidArgument` that points at one member of the request's body (`pointer`, RFC 6901).
std::unexpected<Error> failAt(std::string pointer, std::string message);

/// A `Refused` with its stable reason.
std::unexpected<Error> refuse(std::string reason, std::string message, std::string detail = {});

/// Passes an error on as another result type: `if (!r) return std::unexpected(std::move(r).error());` in one word.
template <typename T> std::unexpected<Error> forward(Result<T>& result)
{
    return std::unexpected<Error>(std::move(result).error());
}

/// An `Error` for a failed system call: `Unavailable` for a full disk or exhausted quota, descriptors or memory, else
/// `Internal`. `what` names the operation and goes to `detail` with the text of `errnoValue`.
std::unexpected<Error> failErrno(std::string_view what, int errnoValue);

} // namespace assay
