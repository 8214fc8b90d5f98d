// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/yaml_reader.h"

#include <string>

namespace assay::registry {

/// `allowed-tools` as clients write it, and the form the specification of agent skills has: names separated by spaces.
struct AllowedTools
{
    std::string canonical;  ///< one space between names; an argument list in parentheses is part of its name
    bool isPortable = true; ///< false for a list or for commas between names
};

/// From a string or a list of strings; anything else gives an empty, not portable value.
AllowedTools readAllowedTools(const YamlNode& node);

} // namespace assay::registry
