// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/contract/capability.h"
#include "server/contract/skill.h"
#include "server/registry/package.h"

#include <map>

namespace assay::registry {

/// How the catalog's JSON columns are written and read (docs/storage.md, "Stored forms"). A form that cannot be read is
/// told by the reader's result, so that a listing can go on without it.

std::string writeFiles(const std::vector<PackageFile>& files);
/// `Internal` when the stored form is damaged.
Result<std::vector<contract::RevisionFile>> readFiles(std::string_view stored);

std::string writeProblems(const std::vector<Problem>& problems);
/// One problem `stored_row_damaged` in place of a form that cannot be read.
std::vector<Problem> readProblems(std::string_view stored);

std::string writeCapabilities(const contract::CapabilityReport& report);
/// No value for a form that cannot be read or was made by other rules than `rules`: make it anew.
std::optional<contract::CapabilityReport> readCapabilities(std::string_view stored, std::uint32_t rules);

std::string writeStrings(const std::vector<std::string>& strings);
/// Empty in place of a form that cannot be read.
std::vector<std::string> readStrings(std::string_view stored);

std::string writeLabels(const std::map<std::string, std::string>& labels);
/// Empty in place of a form that cannot be read.
std::map<std::string, std::string> readLabels(std::string_view stored);

} // namespace assay::registry
