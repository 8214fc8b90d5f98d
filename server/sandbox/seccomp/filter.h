// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/error.h"

#include <string>

namespace assay::sandbox::seccomp {

/// Which socket families a box may open. `UnixOnly` is egress tier `none`; a box of another tier reaches the gateway's
/// listeners over loopback and needs IPv4 and IPv6.
enum class Families : std::uint8_t { UnixOnly, UnixAndInternet };

/// Two classic BPF programs (struct sock_filter[], native byte order, as seccomp(2) takes them), to be installed both
/// and in this order. `surface` lists the calls that exist at all; `arguments` refuses single arguments of allowed
/// calls. The kernel applies the stricter answer of the two.
struct Filter
{
    std::string surface;
    std::string arguments;
};

/// Compiles the filter for this machine's architecture: some milliseconds, so once per program. `Unavailable` when the
/// library or the architecture cannot. Thread-safe.
Result<Filter> compileFilter(Families families);

} // namespace assay::sandbox::seccomp
