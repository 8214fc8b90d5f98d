// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace assay::sandbox::seccomp {

/// The system calls a box may make whatever their arguments are, by kernel name. Names that an architecture or the
/// installed library does not know are skipped there. docs/box.md gives the reasons; tst_filter keeps the two alike.
std::span<const std::string_view> allowedCalls();

/// Calls that must never be in `allowedCalls`, with what they would open. They answer EPERM; everything that is in
/// neither list answers ENOSYS, so that a C library falls back to an older call.
std::span<const std::string_view> refusedCalls();

} // namespace assay::sandbox::seccomp
