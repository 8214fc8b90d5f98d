// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "app/cli/local_data.h"
#include "server/audit/ledger.h"
#include "server/store/active_store.h"
#include "server/store/bundle_copy.h"
#include "server/store/database_file.h"

namespace assay::cli {

namespace {

using store::BundleKind;
using store::CopyReport;
using store::PackageStoreSettings;
using store::RootUse;

struct Options
{
    std::string data;
    std::string to;
    std::string root;
    bool acceptLost = false;
    bool finish = false;
};

/// Both stores of one place, opened so that a server that works there is not disturbed.
struct Stores
{
    std::unique_ptr<store::SkillPackageStore> packages;
    std::unique_ptr<store::SkillPackageStore> artifacts;
};

Result<Stores> openStores(const PackageStoreSettings& place, store::Database& database)
{
    auto packages = store::makePackageStore(place, database, RootUse::BesideOwner);
    if (!packages)
        return forward(packages);
    auto artifacts = store::makeArtifactStore(place, database, RootUse::BesideOwner);
    if (!artifacts)
        return forward(artifacts);
    return Stores{std::move(*packages), std::move(*artifacts)};
}

Result<PackageStoreSettings> targetOf(const Options& options)
{
    if (options.to == "database" && options.root.empty())
        return PackageStoreSettings{.backend = "database", .filesystemRoot = {}};
    if (options.to == "database")
        return fail(ErrorCode::InvalidArgument, "--root belongs to --to filesystem");
    if (options.root.empty())
        return fail(ErrorCode::InvalidArgument, "say where: --to filesystem --root FOLDER");
    std::error_code fault;
    return PackageStoreSettings{.backend = "filesystem",
                                .filesystemRoot = std::filesystem::absolute(options.root, fault)};
}

Result<std::unique_ptr<store::Database>> openDatabase(const Options& options)
{
    auto path = existingDataDirectory(options.data);
    if (!path)
        return forward(path);
    return store::Database::open(
        {.file = store::databaseFile(*path), .readers = 1, .use = store::DatabaseUse::BesideServer});
}

json::object reportJson(const CopyReport& report)
{
    json::array lost;
    for (const store::BundleKey& key : report.some)
        lost.push_back(json::object{{"scope_fingerprint", key.scopeFingerprint}, {"digest", key.digest.text()}});
    return {{"copied", report.copied},
            {"copied_bytes", report.copiedBytes},
            {"present", report.present},
            {"lost", report.lost},
            {"lost_bundles", std::move(lost)}};
}

/// In the server's own ledger, in the transaction of the decision.
Result<void> putAndRecord(store::Database& database, const store::StoredPlaces& places, std::string_view reason)
{
    const SystemClock clock;
    audit::Ledger ledger(database, clock);
    return database.write([&](store::Connection& connection) -> Result<void> {
        if (auto put = store::putPlaces(connection, places); !put)
            return put;
        audit::Record record = audit::recordByServer("", audit::Operation::StoreCutover, audit::Decision::Executed,
                                                     audit::ResourceType::Server, "");
        record.authSource = audit::AuthSource::Local;
        record.metadata.surface = auth::nameOf(auth::Surface::Local);
        record.metadata.reason = reason;
        return ledger.append(connection, record);
    });
}

Result<CopyReport> copy(Context& context, store::Database& database, BundleKind kind, store::SkillPackageStore& from,
                        store::SkillPackageStore& to)
{
    const std::string what = kind == BundleKind::Package ? "packages" : "artifacts";
    auto report = store::copyNamedBundles(database, kind, from, to, [&](const CopyReport& now) {
        context.console.progress("copied " + std::to_string(now.copied) + " " + what + ", " +
                                 std::to_string(now.present) + " were there");
        return !(context.interrupted() && context.interrupted()->load());
    });
    context.console.endProgress();
    return report;
}

std::string describe(const json::value& report)
{
    std::string out;
    for (const std::string_view kind : {"packages", "artifacts"})
        if (const json::value* one = memberOf(report, kind))
            out += std::string(kind) + ": " + std::to_string(numberOf(*one, "copied")) + " copied (" +
                   sizeText(numberOf(*one, "copied_bytes")) + "), " + std::to_string(numberOf(*one, "present")) +
                   " were there, " + std::to_string(numberOf(*one, "lost")) + " lost\n";
    return out + textOf(report, "state") + ": " + plain(textOf(report, "next")) + "\n";
}

std::string settingsOf(const PackageStoreSettings& place)
{
    return place.backend == "filesystem"
               ? "skills.backend=filesystem, skills.filesystem_root=" + place.filesystemRoot.string()
               : "skills.backend=" + place.backend;
}

/// What can be done with a copy: nothing yet while a server runs or bundles are lost, else the switch.
Result<std::pair<std::string, std::string>> conclude(store::Database& database, const store::StoredPlaces& places,
                                                     const PackageStoreSettings& target, bool isWhole)
{
    using Outcome = std::pair<std::string, std::string>;
    if (!isWhole)
        return Outcome{"incomplete", "some bundles are in neither place whole; publish them again or restore them, or "
                                     "say --accept-lost; nothing was switched"};
    if (!database.isAlone())
        return Outcome{"copied", "the server runs, and may publish more: stop it and give this command again"};
    const store::StoredPlaces after{.active = target, .previous = places.active};
    if (auto put = putAndRecord(database, after, "switched"); !put)
        return forward(put);
    return Outcome{"switched", "start the server with " + settingsOf(target) +
                                   "; what was left stays until assayctl store cutover --finish"};
}

Result<int> cutOver(Context& context, const Options& options, store::Database& database,
                    const store::StoredPlaces& places)
{
    auto target = targetOf(options);
    if (!target)
        return forward(target);
    if (store::isSamePlace(*places.active, *target))
        return fail(ErrorCode::Conflict, "the packages are in " + store::describePlace(*target) + " already");
    // Else nobody would know any more of what was left there.
    if (places.previous && !store::isSamePlace(*places.previous, *target))
        return fail(ErrorCode::Conflict,
                    "the last cutover left packages in " + store::describePlace(*places.previous) +
                        ": finish it first, with assayctl store cutover --finish, or go back there");
    auto from = openStores(*places.active, database);
    if (!from)
        return forward(from);
    auto to = openStores(*target, database);
    if (!to)
        return forward(to);
    auto packages = copy(context, database, BundleKind::Package, *from->packages, *to->packages);
    if (!packages)
        return forward(packages);
    auto artifacts = copy(context, database, BundleKind::Artifact, *from->artifacts, *to->artifacts);
    if (!artifacts)
        return forward(artifacts);
    const bool isWhole = packages->lost + artifacts->lost == 0 || options.acceptLost;
    auto outcome = conclude(database, places, *target, isWhole);
    if (!outcome)
        return forward(outcome);
    context.print(json::object{{"from", store::describePlace(*places.active)},
                               {"to", store::describePlace(*target)},
                               {"packages", reportJson(*packages)},
                               {"artifacts", reportJson(*artifacts)},
                               {"state", outcome->first},
                               {"next", outcome->second}},
                  describe);
    return outcome->first == "switched" ? kDone : kFailed;
}

Result<int> finish(Context& context, store::Database& database, const store::StoredPlaces& places)
{
    if (!places.previous)
        return fail(ErrorCode::Conflict, "no cutover waits to be finished");
    auto left = openStores(*places.previous, database);
    if (!left)
        return forward(left);
    std::uint64_t removed = 0;
    for (store::SkillPackageStore* store : {left->packages.get(), left->artifacts.get()}) {
        auto gone = store::removeEveryBundle(*store);
        if (!gone)
            return forward(gone);
        removed += *gone;
    }
    if (auto put = putAndRecord(database, {.active = places.active, .previous = {}}, "finished"); !put)
        return forward(put);
    context.print(json::object{{"from", store::describePlace(*places.previous)},
                               {"to", store::describePlace(*places.active)},
                               {"removed", removed},
                               {"state", "finished"},
                               {"next", std::to_string(removed) + " bundles were removed from " +
                                            store::describePlace(*places.previous)}},
                  describe);
    return kDone;
}

Result<int> run(Context& context, const Options& options)
{
    if (options.finish == !options.to.empty())
        return fail(ErrorCode::InvalidArgument, "say --to database, --to filesystem --root FOLDER, or --finish");
    auto database = openDatabase(options);
    if (!database)
        return forward(database);
    const auto places = (*database)->read(store::findPlaces);
    if (!places)
        return std::unexpected(places.error());
    if (!places->active)
        return fail(ErrorCode::Conflict, "no server has worked here yet: start it once with its present settings, so "
                                         "that it is known where the packages are");
    return options.finish ? finish(context, **database, *places) : cutOver(context, options, **database, *places);
}

} // namespace

void addStoreCutover(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("cutover", "Copy and verify every package and artifact into another store, and switch "
                                            "to it once the server is stopped; exit status 1 while it is not switched");
    command.option("--data", options->data, "Data directory [ASSAY_DATA]");
    command.choice("--to", options->to, "Where to", {"database", "filesystem"});
    command.option("--root", options->root, "Folder of the filesystem store");
    command.flag("--accept-lost", options->acceptLost, "Switch although some bundles are in neither store whole");
    command.flag("--finish", options->finish, "Remove what the last cutover left; there is no way back then");
    onCommand(command, context, std::move(options), run);
}

} // namespace assay::cli
