// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/store/connection.h"
#include "server/store/package_store_factory.h"

#include <optional>

namespace assay::store {

/// Where the bundles that the catalog names are, as the database itself remembers it: settings that say something else
/// would make every package seem lost. One thread: used at start, and by a cutover that holds the server's lock.
struct StoredPlaces
{
    std::optional<PackageStoreSettings> active;
    std::optional<PackageStoreSettings> previous; ///< what a cutover left, until it is finished
};

/// The place in words: "database", or "filesystem" with the folder.
std::string describePlace(const PackageStoreSettings& place);
bool isSamePlace(const PackageStoreSettings& one, const PackageStoreSettings& other);

Result<StoredPlaces> findPlaces(Connection& connection);
Result<void> putPlaces(Connection& connection, const StoredPlaces& places);

/// At the start of a server: remembers `wanted` in a database that knows no place yet, and is `Unavailable`, with what
/// to do, when it knows another one.
Result<StoredPlaces> claimPlace(Database& database, const PackageStoreSettings& wanted);

} // namespace assay::store
