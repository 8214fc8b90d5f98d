// SPDX-License-Identifier: Apache-2.0
#include "server/store/active_store.h"

#include "server/store/server_state_table.h"

namespace assay::store {

namespace {

constexpr std::string_view kActive = "package_store";
constexpr std::string_view kPrevious = "package_store_previous";
constexpr std::string_view kFilesystem = "filesystem:";

std::string rootText(const PackageStoreSettings& place)
{
    std::error_code fault;
    const auto canonical = std::filesystem::weakly_canonical(place.filesystemRoot, fault);
    return fault ? place.filesystemRoot.string() : canonical.string();
}

std::string textOf(const std::optional<PackageStoreSettings>& place)
{
    if (!place)
        return {};
    return place->backend == "filesystem" ? std::string(kFilesystem) + rootText(*place) : place->backend;
}

std::optional<PackageStoreSettings> placeOf(const std::optional<std::string>& text)
{
    if (!text || text->empty())
        return std::nullopt;
    if (text->starts_with(kFilesystem))
        return PackageStoreSettings{.backend = "filesystem", .filesystemRoot = text->substr(kFilesystem.size())};
    return PackageStoreSettings{.backend = *text, .filesystemRoot = {}};
}

} // namespace

std::string describePlace(const PackageStoreSettings& place)
{
    return place.backend == "filesystem" ? "filesystem " + rootText(place) : place.backend;
}

bool isSamePlace(const PackageStoreSettings& one, const PackageStoreSettings& other)
{
    return textOf(one) == textOf(other);
}

Result<StoredPlaces> findPlaces(Connection& connection)
{
    ServerStateTable table(connection);
    const auto active = table.find(kActive);
    if (!active)
        return std::unexpected(active.error());
    const auto previous = table.find(kPrevious);
    if (!previous)
        return std::unexpected(previous.error());
    return StoredPlaces{placeOf(*active), placeOf(*previous)};
}

Result<void> putPlaces(Connection& connection, const StoredPlaces& places)
{
    ServerStateTable table(connection);
    if (auto put = table.put(kActive, textOf(places.active)); !put)
        return put;
    return table.put(kPrevious, textOf(places.previous));
}

Result<StoredPlaces> claimPlace(Database& database, const PackageStoreSettings& wanted)
{
    auto places = database.read(findPlaces);
    if (!places)
        return places;
    if (!places->active) {
        places->active = wanted;
        auto put = database.write([&](Connection& connection) { return putPlaces(connection, *places); });
        return put ? places : Result<StoredPlaces>(forward(put));
    }
    if (!isSamePlace(*places->active, wanted))
        return fail(ErrorCode::Unavailable,
                    "the packages are in " + describePlace(*places->active) + ", and the settings say " +
                        describePlace(wanted) +
                        "; copy them first with assayctl store cutover, or set skills.backend back");
    return places;
}

} // namespace assay::store
