// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace assay::sandbox::bubblewrap {

/// Why a box could not be made, and what an operator does about it.
struct Diagnosis
{
    std::string reason;
    std::string remedy;
};

/// Reads bubblewrap's own words (its standard error) and the machine's switches below `proc` for the cause.
Diagnosis diagnose(std::string_view message, const std::string& proc = "/proc");

/// Bubblewrap is not there, or not new enough to be used.
Diagnosis missingProgram(std::string_view program);

} // namespace assay::sandbox::bubblewrap
