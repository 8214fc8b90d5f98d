// SPDX-License-Identifier: Apache-2.0
#include "server/registry/review/anchors.h"

#include "server/registry/package.h"
#include "server/registry/stored_form.h"
#include "server/store/revision_table.h"

#include <algorithm>
#include <format>

namespace assay::review {

namespace {

using registry::PackageFile;

std::uint64_t countLines(std::string_view text)
{
    const auto breaks = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
    return breaks + (!text.empty() && text.back() != '\n' ? 1 : 0);
}

Result<std::vector<contract::RevisionFile>> filesOf(store::Connection& connection, std::string_view scope,
                                                    std::string_view skill, std::string_view revision)
{
    if (revision.empty())
        return std::vector<contract::RevisionFile>();
    auto row = store::RevisionTable(connection).find(scope, skill, revision, store::WithFiles::Yes);
    if (!row)
        return forward(row);
    if (!*row)
        return std::vector<contract::RevisionFile>();
    return registry::readFiles((*row)->files);
}

const contract::RevisionFile* findFile(const std::vector<contract::RevisionFile>& files, std::string_view path)
{
    const auto found = std::ranges::find(files, path, &contract::RevisionFile::path);
    return found == files.end() ? nullptr : &*found;
}

} // namespace

/// One side of a proposal; its bytes are read when the first line is asked for.
struct Anchors::Side
{
    const char* name;
    std::vector<contract::RevisionFile> files;
    std::optional<Digest> digest;
    std::optional<std::vector<PackageFile>> contents;
    std::shared_ptr<const void> storage;

    Result<void> load(store::SkillPackageStore& packages, std::string_view scope)
    {
        if (contents)
            return {};
        auto bundle = packages.fetch(scope, digest.value_or(Digest()));
        if (!bundle)
            return fail(ErrorCode::Internal,
                        "the stored bytes of this revision cannot be read, so no line of them can "
                        "be found",
                        bundle.error().message);
        storage = bundle->storage();
        auto parsed = registry::parseCanonicalStream(bundle->bytes(), registry::FileFacts::Skip);
        if (!parsed)
            return forward(parsed);
        contents = std::move(*parsed);
        return {};
    }
};

Result<Sides> readSides(store::Connection& connection, std::string_view scope, const store::ProposalRow& proposal)
{
    auto newer = filesOf(connection, scope, proposal.skill, proposal.revision);
    if (!newer)
        return forward(newer);
    auto older = filesOf(connection, scope, proposal.skill, proposal.baseRevision);
    if (!older)
        return forward(older);
    return Sides{std::move(*newer), std::move(*older)};
}

std::string viewedContent(const Sides& sides, std::string_view path)
{
    const contract::RevisionFile* file = findFile(sides.newer, path);
    const bool isRemoved = file == nullptr;
    if (isRemoved)
        file = findFile(sides.older, path);
    if (file == nullptr)
        return {};
    return (isRemoved ? "removed " : "") + file->sha256 + (file->executable ? " x" : "");
}

Result<store::CommentRow> Anchors::anchorOne(std::string_view scope, const contract::NewComment& comment,
                                             const std::string& pointer, Side& side)
{
    store::CommentRow row;
    row.text = comment.text;
    row.inReplyTo = comment.inReplyTo;
    if (comment.path.empty())
        return row;
    const contract::RevisionFile* file = findFile(side.files, comment.path);
    if (file == nullptr)
        return failAt(pointer + "/path", std::format("the {} side has no file of this path", side.name));
    row.path = file->path;
    row.side = side.name;
    row.fileSha256 = file->sha256;
    if (!comment.line)
        return row;
    if (file->kind != "text")
        return failAt(pointer + "/line", "this file is no text; comment on the file, without a line");
    if (auto loaded = side.load(m_packages, scope); !loaded)
        return forward(loaded);
    const auto stored = std::ranges::find(*side.contents, comment.path, &PackageFile::path);
    const std::uint64_t lines = stored == side.contents->end() ? 0 : countLines(stored->content);
    if (*comment.line > lines)
        return failAt(pointer + "/line", std::format("this file has {} lines on the {} side", lines, side.name));
    row.line = static_cast<std::int64_t>(*comment.line);
    return row;
}

Result<std::vector<store::CommentRow>> Anchors::anchor(std::string_view scope, const store::ProposalRow& proposal,
                                                       const std::vector<contract::NewComment>& comments,
                                                       std::string_view pointer)
{
    auto sides = m_database.read([&](store::Connection& connection) { return readSides(connection, scope, proposal); });
    if (!sides)
        return forward(sides);
    Side newer{"new", std::move(sides->newer), proposal.digest, {}, {}};
    Side older{"old", std::move(sides->older), proposal.baseDigest, {}, {}};
    std::vector<store::CommentRow> out;
    for (const contract::NewComment& comment : comments) {
        const std::string at =
            pointer.empty() ? std::string() : std::format("{}/{}", pointer, &comment - comments.data());
        auto row = anchorOne(scope, comment, at, comment.side == "old" ? older : newer);
        if (!row)
            return forward(row);
        out.push_back(std::move(*row));
    }
    return out;
}

} // namespace assay::review
