// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace assay::auth {

/// Who acts, as a token or a trusted ingress names it: 1 to 256 bytes of UTF-8 without control characters (C0, DEL).
bool isPrincipal(std::string_view text);

} // namespace assay::auth
