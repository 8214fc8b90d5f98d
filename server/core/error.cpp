// SPDX-License-Identifier: Apache-2.0
#include "server/core/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace assay {

namespace {

constexpr std::array<ErrorTraits, 17> kTraits{{
    {"invalid_argument", "The request is not valid", "error.invalid_argument", 400, 2},
    {"unauthenticated", "No valid token came with the request", "error.unauthenticated", 401, 4},
    {"permission_denied", "The token's roles do not allow this", "error.permission_denied", 403, 4},
    {"not_found", "There is no such object", "error.not_found", 404, 1},
    {"invalid_argument", "The method does not apply to this resource", "error.method_not_allowed", 405, 2},
    {"conflict", "The request contradicts the present state", "error.conflict", 409, 1},
    {"precondition_failed", "The object is no longer what the request expects", "error.precondition_failed", 412, 1},
    {"too_large", "The request is larger than the server allows", "error.too_large", 413, 1},
    {"unsupported_media", "The server does not read this content type", "error.unsupported_media", 415, 1},
    {"invalid_package", "The package breaks a rule", "error.invalid_package", 422, 5},
    {"refused", "The run may not start", "error.refused", 422, 4},
    {"precondition_required", "The request must say what it expects", "error.precondition_required", 428, 1},
    {"rate_limited", "Too many requests", "error.rate_limited", 429, 1},
    {"cancelled", "The operation was cancelled", "error.cancelled", 499, 1},
    {"internal", "The server failed", "error.internal", 500, 1},
    {"unavailable", "The service cannot do this now", "error.unavailable", 503, 3},
    {"timeout", "The time limit passed", "error.timeout", 504, 1},
}};

constexpr std::size_t row(ErrorCode code)
{
    switch (code) {
    case ErrorCode::InvalidArgument:
        return 0;
    case ErrorCode::Unauthenticated:
        return 1;
    case ErrorCode::PermissionDenied:
        return 2;
    case ErrorCode::NotFound:
        return 3;
    case ErrorCode::MethodNotAllowed:
        return 4;
    case ErrorCode::Conflict:
        return 5;
    case ErrorCode::PreconditionFailed:
        return 6;
    case ErrorCode::TooLarge:
        return 7;
    case ErrorCode::UnsupportedMedia:
        return 8;
    case ErrorCode::InvalidPackage:
        return 9;
    case ErrorCode::Refused:
        return 10;
    case ErrorCode::PreconditionRequired:
        return 11;
    case ErrorCode::RateLimited:
        return 12;
    case ErrorCode::Cancelled:
        return 13;
    case ErrorCode::Internal:
        return 14;
    case ErrorCode::Unavailable:
        return 15;
    case ErrorCode::Timeout:
        return 16;
    }
    return 14;
}

bool isExhaustion(int errnoValue)
{
    constexpr std::array kinds{ENOSPC, EDQUOT, EMFILE, ENFILE, ENOMEM, EAGAIN, EROFS};
    return std::ranges::contains(kinds, errnoValue);
}

} // namespace

const ErrorTraits& traits(ErrorCode code) { return kTraits[row(code)]; }

std::optional<ErrorCode> errorCodeNamed(std::string_view name)
{
    for (int value = 0; value <= static_cast<int>(ErrorCode::Timeout); ++value) {
        const auto code = static_cast<ErrorCode>(value);
        if (traits(code).code == name)
            return code;
    }
    return std::nullopt;
}

std::unexpected<Error> fail(ErrorCode code, std::string message, std::string detail)
{
    return std::unexpected(Error{code, std::move(message), std::move(detail), {}, {}});
}

std::unexpected<Error> failAt(std::string pointer, std::string message)
{
    Error error{ErrorCode::InvalidArgument, message, {}, {}, {}};
    error.problems.push_back(
        {.code = "invalid_argument", .message = std::move(message), .pointer = std::move(pointer)});
    return std::unexpected(std::move(error));
}

std::unexpected<Error> refuse(std::string reason, std::string message, std::string detail)
{
    return std::unexpected(Error{ErrorCode::Refused, std::move(message), std::move(detail), std::move(reason), {}});
}

std::unexpected<Error> failErrno(std::string_view what, int errnoValue)
{
    std::string detail(what);
    detail += ": " + std::generic_category().message(errnoValue);
    if (errnoValue == ENOSPC || errnoValue == EDQUOT)
        return fail(ErrorCode::Unavailable, "the server's disk is full; nothing was changed", std::move(detail));
    if (isExhaustion(errnoValue))
        return fail(ErrorCode::Unavailable, "the server is out of a resource; try again later", std::move(detail));
    return fail(ErrorCode::Internal, "the server could not complete a file or system operation", std::move(detail));
}

} // namespace assay
