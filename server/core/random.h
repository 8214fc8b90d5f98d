// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace assay {

/// `count` bytes of the kernel's generator (getrandom(2)), fit for keys and tokens. Thread-safe. Ends the process if
/// the kernel has none: going on with weak randomness would be worse.
std::string randomBytes(std::size_t count);

} // namespace assay
