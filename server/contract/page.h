// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::contract {

/// What a list is asked for. `size` is 1..200; `token` is what an earlier page answered, opaque to callers.
struct PageRequest
{
    std::uint32_t size = 50;
    std::string token;
};

/// One page of a list in its stable order; an absent token means there is no further page.
template <typename T> struct Page
{
    std::vector<T> items;
    std::optional<std::string> nextPageToken;
};

} // namespace assay::contract
