// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/base/base_store.h"

#include "server/core/digest.h"
#include "server/core/file_io.h"
#include "server/core/json.h"
#include "server/sandbox/base/base_layout.h"
#include "server/sandbox/base/tree_listing.h"

#include <algorithm>

namespace assay::sandbox::base {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMaxInfoBytes = 4U << 20;
constexpr std::uint64_t kMaxManifestBytes = 512U << 20;

Result<std::string> checkedManifest(const fs::path& folder, const Digest& digest)
{
    auto manifest = readFile(folder / "manifest", kMaxManifestBytes);
    if (!manifest)
        return manifest;
    if (Digest::ofBytes(*manifest) != digest)
        return fail(ErrorCode::Unavailable, "the listing of the base " + digest.text() +
                                                " is damaged; remove that base and run assayctl base build");
    return manifest;
}

Result<fs::path> folderOf(const fs::path& dataDirectory, const Digest& digest)
{
    const fs::path folder = basesFolder(dataDirectory) / digest.hex();
    std::error_code error;
    if (!fs::is_directory(folder / "root", error))
        return fail(ErrorCode::NotFound, "there is no base " + digest.text());
    return folder;
}

std::string firstDifference(std::string_view a, std::string_view b)
{
    const auto [at, other] = std::ranges::mismatch(a, b);
    const auto start = a.rfind('\n', static_cast<std::size_t>(at - a.begin()));
    const auto line = a.substr(start == std::string_view::npos ? 0 : start + 1);
    return std::string(line.substr(0, line.find('\0')));
}

} // namespace

std::string encodeInfo(const BaseInfo& info)
{
    json::array packages;
    for (const std::string& package : info.packages)
        packages.emplace_back(package);
    return canonicalJson(json::object{{"digest", info.digest},
                                      {"created_at", formatTimestamp(info.createdAt)},
                                      {"size_bytes", info.sizeBytes},
                                      {"files", info.files},
                                      {"packages", std::move(packages)}});
}

Result<BaseInfo> decodeInfo(const std::string& text)
{
    auto parsed = parseJson(text);
    if (!parsed)
        return forward(parsed);
    try {
        const json::object& object = parsed->as_object();
        auto created = parseTimestamp(object.at("created_at").as_string());
        if (!created)
            return forward(created);
        BaseInfo info{std::string(object.at("digest").as_string()),
                      *created,
                      object.at("size_bytes").to_number<std::uint64_t>(),
                      object.at("files").to_number<std::uint64_t>(),
                      {}};
        for (const json::value& package : object.at("packages").as_array())
            info.packages.emplace_back(package.as_string());
        return info;
    } catch (const std::exception& exception) {
        return fail(ErrorCode::InvalidArgument, "the base's description is damaged", exception.what());
    }
}

Result<std::vector<BaseInfo>> listBases(const fs::path& dataDirectory)
{
    std::vector<BaseInfo> bases;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(basesFolder(dataDirectory), error)) {
        // A build in progress begins with a dot; its files are not to be trusted yet.
        if (entry.path().filename().string().starts_with('.'))
            continue;
        const auto text = readFile(entry.path() / "info.json", kMaxInfoBytes);
        if (!text)
            continue;
        auto info = decodeInfo(*text);
        if (info && info->digest == "sha256:" + entry.path().filename().string())
            bases.push_back(std::move(*info));
    }
    std::ranges::sort(bases, [](const BaseInfo& a, const BaseInfo& b) {
        return std::tie(b.createdAt, b.digest) < std::tie(a.createdAt, a.digest);
    });
    return bases;
}

Result<BaseRoot> openBase(const fs::path& dataDirectory, std::string_view digest)
{
    const auto parsed = Digest::parse(digest);
    if (!parsed)
        return fail(parsed.error().code, parsed.error().message);
    auto folder = folderOf(dataDirectory, *parsed);
    if (!folder)
        return forward(folder);
    if (auto manifest = checkedManifest(*folder, *parsed); !manifest)
        return forward(manifest);
    return BaseRoot{parsed->text(), fs::absolute(*folder / "root")};
}

Result<BaseRoot> selectBase(const fs::path& dataDirectory)
{
    auto bases = listBases(dataDirectory);
    if (!bases)
        return forward(bases);
    if (bases->empty())
        return BaseRoot{std::string(kHostUnpinned), {}};
    return openBase(dataDirectory, bases->front().digest);
}

Result<void> verifyBase(const fs::path& dataDirectory, std::string_view digest, std::stop_token cancel)
{
    auto base = openBase(dataDirectory, digest);
    if (!base)
        return forward(base);
    const auto manifest = readFile(base->root.parent_path() / "manifest", kMaxManifestBytes);
    const auto listing = listTree(base->root, std::move(cancel));
    if (!manifest || !listing)
        return std::unexpected(manifest ? listing.error() : manifest.error());
    if (*manifest == listing->text)
        return {};
    return fail(ErrorCode::Unavailable, "the base " + base->digest + " differs from its listing at " +
                                            firstDifference(listing->text, *manifest) +
                                            "; remove that base and run assayctl base build");
}

} // namespace assay::sandbox::base
