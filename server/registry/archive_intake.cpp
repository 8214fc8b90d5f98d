// SPDX-License-Identifier: Apache-2.0
#include "server/registry/archive_intake.h"

#include "server/registry/archive_fault.h"
#include "server/registry/archive_layout.h"
#include "server/registry/limit_problems.h"
#include "server/registry/path_rules.h"
#include "server/registry/path_set.h"

namespace assay::registry {

namespace {

constexpr std::size_t kMaxListedIgnored = 1000;

std::string_view withoutTop(std::string_view path, const std::string& top)
{
    const bool isBelow = path.size() > top.size() && path.starts_with(top) && path[top.size()] == '/';
    return isBelow ? path.substr(top.size() + 1) : path;
}

} // namespace

std::uint64_t maxArchiveEntries(const PackageLimits& limits) { return 10ULL * limits.files + 1000; }

Result<ArchiveIntake> ArchiveIntake::open(const std::filesystem::path& scratchDirectory, const PackageLimits& limits,
                                          std::uint64_t archiveBytes)
{
    auto spool = SpoolFile::open(scratchDirectory);
    if (!spool)
        return forward(spool);
    return ArchiveIntake(std::move(*spool), limits, archiveBytes);
}

/// What holds for entries of every kind.
Result<ArchiveIntake::Fate> ArchiveIntake::countEntry(std::string_view path)
{
    if (++m_entries > maxArchiveEntries(m_limits))
        return rejectArchive(
            {.code = "too_many_files",
             .message = "the archive has more than " + std::to_string(maxArchiveEntries(m_limits)) +
                        " entries, ignored ones and folders included; leave out what the skill does not need"});
    if (!isIgnoredEntry(path))
        return Fate::Keep;
    if (!path.ends_with('/') && m_ignored.size() <= kMaxListedIgnored)
        m_ignored.emplace_back(path);
    return Fate::Skip;
}

Result<void> ArchiveIntake::checkFileLimits(std::uint64_t size)
{
    if (m_files.size() >= m_limits.files)
        return rejectArchive(tooManyFiles(m_files.size() + 1, m_limits));
    m_declaredBytes += size;
    if (m_declaredBytes > m_limits.packageBytes)
        return rejectArchive(packageTooLarge(m_declaredBytes, m_limits));
    return {};
}

Result<ArchiveIntake::Fate> ArchiveIntake::beginFile(std::string_view path, std::uint64_t size, bool executable)
{
    path = withoutDotSlash(path);
    const auto fate = countEntry(path);
    if (!fate || *fate == Fate::Skip)
        return fate;
    if (size > m_limits.fileBytes) {
        m_problems.add(fileTooLarge(path, size, m_limits));
        return Fate::Skip;
    }
    if (auto fits = checkFileLimits(size); !fits)
        return forward(fits);
    m_files.push_back({std::string(path), m_spool.size(), size, executable});
    return Fate::Keep;
}

Result<void> ArchiveIntake::addContent(std::string_view bytes)
{
    const Record& file = m_files.back();
    const std::uint64_t total = m_spool.size() + bytes.size();
    if (total - file.offset > file.size)
        return corruptArchive("the file has more bytes than its entry says", file.path);
    if (total > m_limits.ratioFloorBytes && total / std::max(m_limits.archiveRatio, 1U) > m_archiveBytes)
        return rejectArchive(ratioTooHigh(total, m_archiveBytes, m_limits));
    return m_spool.append(bytes);
}

Result<void> ArchiveIntake::endFile()
{
    const Record& file = m_files.back();
    if (m_spool.size() - file.offset != file.size)
        return corruptArchive("the file has fewer bytes than its entry says", file.path);
    return {};
}

Result<void> ArchiveIntake::addFolder(std::string_view path)
{
    path = withoutDotSlash(path);
    const auto fate = countEntry(path);
    if (!fate)
        return std::unexpected(fate.error());
    while (path.size() > 1 && path.ends_with('/'))
        path.remove_suffix(1);
    if (*fate == Fate::Keep && !path.empty())
        m_folders.emplace_back(path);
    return {};
}

Result<void> ArchiveIntake::addLink(std::string_view path, std::string_view kind)
{
    path = withoutDotSlash(path);
    const auto fate = countEntry(path);
    if (!fate)
        return std::unexpected(fate.error());
    if (*fate == Fate::Keep)
        m_problems.add(linkNotAllowed(path, kind));
    return {};
}

void ArchiveIntake::takeOffTopFolder(std::string& topFolder)
{
    const std::vector<std::string_view> folders(m_folders.begin(), m_folders.end());
    std::vector<std::string_view> files;
    files.reserve(m_files.size());
    for (const Record& file : m_files)
        files.push_back(file.path);
    topFolder = findTopFolder(files, folders);
    if (topFolder.empty())
        return;
    for (Record& file : m_files)
        file.path = std::string(withoutTop(file.path, topFolder));
    std::erase(m_folders, topFolder);
    for (std::string& folder : m_folders)
        folder = std::string(withoutTop(folder, topFolder));
    for (std::string& path : m_ignored)
        path = std::string(withoutTop(path, topFolder));
}

/// Folders are not part of a package, but one that a careful unpacker would refuse spoils the archive.
void ArchiveIntake::judgeFolders()
{
    if (m_folders.empty())
        return;
    PathSet files;
    ProblemList others; // validatePackage reports the files' own
    for (const Record& file : m_files) {
        if (const JudgedPath judged = judgePath(file.path); judged.code.empty())
            files.addFile(judged.path, others);
    }
    for (const std::string& folder : m_folders) {
        const JudgedPath judged = judgePath(folder);
        if (judged.code.empty())
            files.checkFolder(judged.path, m_problems);
        else
            m_problems.add({.code = judged.code, .message = judged.message, .path = shownPath(folder)});
    }
}

Result<PackageSource> ArchiveIntake::finish()
{
    std::string topFolder;
    takeOffTopFolder(topFolder);
    judgeFolders();
    if (!m_problems.isEmpty())
        return rejectPackage(m_problems.take());
    auto mapped = m_spool.map();
    if (!mapped)
        return forward(mapped);
    std::vector<SourceFile> files;
    files.reserve(m_files.size());
    for (Record& file : m_files)
        files.push_back({std::move(file.path), mapped->bytes.substr(file.offset, file.size), file.executable});
    PackageSource source(std::move(files), std::move(mapped->storage));
    source.topFolder = judgePath(topFolder).path;
    if (m_ignored.size() > kMaxListedIgnored)
        m_ignored.back() = "... and more";
    for (const std::string& path : m_ignored)
        source.ignored.push_back(shownPath(path));
    return source;
}

} // namespace assay::registry
