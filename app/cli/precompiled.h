// SPDX-License-Identifier: Apache-2.0
/// What nearly every file of the command line includes: the option parser is slow to compile.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
