// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/api/admission.h"
#include "server/audit/refusals.h"

namespace assay::api {

/// What a route decides, for the ledger; empty for those that decide nothing (reads).
std::optional<audit::Operation> operationOf(const Route& route);

/// The row of a request that was not admitted: without a valid token, or without the role. Empty for other refusals,
/// which are no decisions about somebody.
std::optional<audit::Record> refusedAdmission(const Refusal& refusal);

/// The row of an admitted request that its handler refused: a rule, a precondition, an invalid package. Empty for
/// faults of the request itself, for what is missing (another scope's object looks the same), and for refused runs,
/// which are recorded where they are stored.
std::optional<audit::Record> refusedRequest(const Route& route, const Request& request, const Error& error);

} // namespace assay::api
