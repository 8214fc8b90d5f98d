// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/core/unique_fd.h"
#include "server/http/listen_address.h"

#include <string>

namespace assay::http {

/// A listening, non-blocking socket; fills in the port that was chosen for port 0.
Result<UniqueFd> listenOn(ListenAddress& address);

/// Who is at the other end, as a key of limits: "4:192.0.2.1", "6:2001:db8:0:1" (the /64), "user:1000".
std::string peerKey(int socket, ListenAddress::Family family);

} // namespace assay::http
