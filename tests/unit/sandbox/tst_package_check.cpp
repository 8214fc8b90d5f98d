// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/package_check.h"
#include "tests/support/test_support.h"

using namespace assay;
using namespace assay::sandbox;
using channel::EntryKind;

class TestPackageCheck : public QObject
{
    Q_OBJECT

private slots:
    void acceptsExactlyThePinnedTree();
    void refusesEveryDifference();
    void acceptsNoFolderForNoPackages();
};

namespace {

std::vector<PinnedPackage> pinned()
{
    PinnedPackage package{.name = "demo", .digest = {}, .tree = {}, .files = {}};
    package.files.push_back({"SKILL.md", Digest::ofBytes("md"), 2, false});
    package.files.push_back({"scripts/lib/run.sh", Digest::ofBytes("run"), 3, true});
    return {package};
}

TreeListing seen()
{
    TreeListing listing;
    listing.entries = {{"demo", EntryKind::Directory, 0555, 0, {}},
                       {"demo/SKILL.md", EntryKind::File, 0444, 2, Digest::ofBytes("md")},
                       {"demo/scripts", EntryKind::Directory, 0555, 0, {}},
                       {"demo/scripts/lib", EntryKind::Directory, 0555, 0, {}},
                       {"demo/scripts/lib/run.sh", EntryKind::File, 0555, 3, Digest::ofBytes("run")}};
    listing.allReadOnly = true;
    return listing;
}

} // namespace

void TestPackageCheck::acceptsExactlyThePinnedTree() { ASSAY_OK(checkPackages(seen(), pinned())); }

void TestPackageCheck::refusesEveryDifference()
{
    const std::vector<std::function<void(TreeListing&)>> changes{
        [](TreeListing& l) { l.entries[1].sha256 = Digest::ofBytes("other"); },
        [](TreeListing& l) { l.entries[1].sizeBytes = 3; },
        [](TreeListing& l) { l.entries[1].mode = 0644; },
        [](TreeListing& l) { l.entries[1].mode = 0555; },
        [](TreeListing& l) { l.entries[4].mode = 0444; },
        [](TreeListing& l) { l.entries[4].mode = 04555; },
        [](TreeListing& l) { l.entries[2].mode = 0755; },
        [](TreeListing& l) { l.entries[1].kind = EntryKind::Symlink; },
        [](TreeListing& l) { l.entries[1].kind = EntryKind::Unreadable; },
        [](TreeListing& l) { l.entries.pop_back(); },
        [](TreeListing& l) { l.entries.push_back({"demo/more", EntryKind::File, 0444, 0, Digest::ofBytes("")}); },
        [](TreeListing& l) { l.entries.push_back({"demo/empty", EntryKind::Directory, 0555, 0, {}}); },
        [](TreeListing& l) { l.entries.push_back({"other", EntryKind::Directory, 0555, 0, {}}); },
        [](TreeListing& l) { l.entries.push_back(l.entries[1]); },
        [](TreeListing& l) { l.allReadOnly = false; },
        [](TreeListing& l) { l.truncated = true; },
        [](TreeListing& l) { l.isFolder = false; },
        [](TreeListing& l) { l.isThere = l.isFolder = false, l.entries.clear(); },
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
        TreeListing listing = seen();
        changes[i](listing);
        const auto checked = checkPackages(listing, pinned());
        QVERIFY2(!checked, qPrintable(QString::number(i)));
        QCOMPARE(checked.error().code, ErrorCode::Refused);
        QCOMPARE(checked.error().reason, "digest_mismatch");
    }
}

void TestPackageCheck::acceptsNoFolderForNoPackages()
{
    TreeListing nothing;
    nothing.isThere = nothing.isFolder = false;
    ASSAY_OK(checkPackages(nothing, {}));
    QVERIFY(!checkPackages(seen(), {}));
}

QTEST_GUILESS_MAIN(TestPackageCheck)
#include "tst_package_check.moc"
