// SPDX-License-Identifier: Apache-2.0
#include "server/auth/principal.h"

#include "server/core/text.h"

#include <algorithm>

namespace assay::auth {

namespace {

constexpr std::size_t kMaxBytes = 256;

bool isControl(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

} // namespace

bool isPrincipal(std::string_view text)
{
    return !text.empty() && text.size() <= kMaxBytes && std::ranges::none_of(text, isControl) && isUtf8(text);
}

} // namespace assay::auth
