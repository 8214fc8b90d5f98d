// SPDX-License-Identifier: Apache-2.0
/// What nearly every file of the command line includes: the option parser is slow to compile.
#pragma once

#include "cmake/precompiled.h"

#include <CLI/CLI.hpp>
