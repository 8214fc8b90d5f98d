// SPDX-License-Identifier: Apache-2.0
#include "server/core/digest.h"
#include "server/core/file_io.h"
#include "server/core/random.h"
#include "server/sandbox/base/base_layout.h"
#include "server/sandbox/base/base_store.h"
#include "server/sandbox/base/debian_sources.h"
#include "server/sandbox/base/normalize.h"
#include "server/sandbox/base/program.h"
#include "server/sandbox/base/tree_listing.h"

#include <algorithm>
#include <sys/stat.h>

namespace assay::sandbox::base {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kNeededBytes = 3ULL << 30;
constexpr std::uint64_t kMaxStatusBytes = 64U << 20;

/// One build: a temporary folder beside the finished ones, removed unless the build was stored.
class Build
{
public:
    Build(const fs::path& dataDirectory, const Progress& progress, std::stop_token cancel, const BuildOptions& options)
        : m_bases(basesFolder(dataDirectory)),
          m_folder(m_bases / (".new-" + toHex(randomBytes(8)))),
          m_progress(progress),
          m_cancel(std::move(cancel)),
          m_options(options),
          m_deadline(std::chrono::steady_clock::now() + options.deadline)
    {}
    ~Build()
    {
        std::error_code error;
        fs::remove_all(m_folder, error);
    }
    Build(const Build&) = delete;
    Build& operator=(const Build&) = delete;

    Result<BaseInfo> run()
    {
        auto done = prepare();
        if (done)
            done = bootstrap();
        if (done)
            done = unpack();
        if (!done)
            return forward(done);
        say("normalizing the tree");
        BaseInfo info;
        info.packages = installedPackages();
        done = normalizeTree(m_folder / "root", m_cancel);
        return done ? store(std::move(info)) : forward(done);
    }

private:
    void say(std::string_view line) const
    {
        if (m_progress)
            m_progress(line);
    }

    Result<void> prepare()
    {
        std::error_code error;
        fs::create_directories(m_folder / "root", error);
        if (error)
            return failErrno("make " + m_folder.string(), error.value());
        ::chmod(m_folder.c_str(), 0755);
        const auto space = fs::space(m_folder, error);
        if (!error && space.available < kNeededBytes)
            return fail(ErrorCode::Unavailable, "building a base needs 3 GiB of free disk in the data directory; " +
                                                    std::to_string(space.available >> 20) + " MiB are free");
        return {};
    }

    Program program(std::vector<std::string> argv)
    {
        return {.argv = std::move(argv),
                .environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC",
                                "SOURCE_DATE_EPOCH=" + std::to_string(kBaseTime), "TMPDIR=" + m_folder.string(),
                                "DEBIAN_FRONTEND=noninteractive"},
                .input = {},
                .deadline = m_deadline,
                .cancel = m_cancel,
                .onLine = [this](std::string_view line) { say(line); }};
    }

    Result<void> bootstrap()
    {
        auto sources = debianSources(m_options.suite, m_deadline, m_cancel);
        if (!sources)
            return forward(sources);
        say("installing the packages (some minutes)");
        std::string list;
        for (const std::string& package : m_options.packages)
            list += (list.empty() ? "" : ",") + package;
        auto mmdebstrap = program({"mmdebstrap", "--variant=" + m_options.variant, "--include=" + list,
                                   "--aptopt=APT::Install-Recommends \"false\"", "--format=tar", m_options.suite,
                                   archive().string(), "-"});
        mmdebstrap.input = std::move(*sources);
        return runProgram(mmdebstrap);
    }

    /// Owners are not part of a base: everything belongs to the server, and a box sees it as nobody's.
    Result<void> unpack()
    {
        say("unpacking");
        auto done =
            runProgram(program({"tar", "-x", "-p", "--no-same-owner", "--delay-directory-restore", "--exclude=./dev/*",
                                "-f", archive().string(), "-C", (m_folder / "root").string()}));
        std::error_code error;
        fs::remove(archive(), error);
        return done;
    }

    std::vector<std::string> installedPackages() const
    {
        std::vector<std::string> packages;
        const auto status = readFile(m_folder / "root/var/lib/dpkg/status", kMaxStatusBytes).value_or("");
        std::string name;
        std::string_view rest(status);
        while (!rest.empty()) {
            const auto line = rest.substr(0, rest.find('\n'));
            if (line.starts_with("Package: "))
                name = line.substr(9);
            else if (line.starts_with("Version: "))
                packages.push_back(name + "=" + std::string(line.substr(9)));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        }
        std::ranges::sort(packages);
        return packages;
    }

    Result<BaseInfo> store(BaseInfo info)
    {
        say("reading the tree for its digest");
        auto listing = listTree(m_folder / "root", m_cancel);
        if (!listing)
            return forward(listing);
        const Digest digest = Digest::ofBytes(listing->text);
        info.digest = digest.text();
        info.files = listing->entries;
        info.sizeBytes = listing->bytes;
        info.createdAt = SystemClock().now();
        auto done = replaceFileDurably(m_folder / "manifest", listing->text, 0644);
        if (done)
            done = replaceFileDurably(m_folder / "info.json", encodeInfo(info), 0644);
        if (!done)
            return forward(done);
        std::error_code error;
        fs::rename(m_folder, m_bases / digest.hex(), error);
        // The same content was stored before: that one stays, with its date.
        if (error && !fs::is_directory(m_bases / digest.hex() / "root"))
            return failErrno("store the base", error.value());
        if (done = syncDirectory(m_bases); !done)
            return forward(done);
        say("stored " + info.digest);
        return info;
    }

    fs::path archive() const { return m_folder / "root.tar"; }

    fs::path m_bases;
    fs::path m_folder;
    const Progress& m_progress;
    std::stop_token m_cancel;
    const BuildOptions& m_options;
    std::chrono::steady_clock::time_point m_deadline;
};

} // namespace

std::vector<std::string> BuildOptions::defaultPackages()
{
    return {"bash",        "ca-certificates",
            "coreutils",   "curl",
            "diffutils",   "file",
            "findutils",   "gawk",
            "git",         "grep",
            "gzip",        "jq",
            "less",        "nodejs",
            "npm",         "patch",
            "procps",      "python3",
            "python3-pip", "python3-venv",
            "ripgrep",     "sed",
            "tar",         "tzdata",
            "unzip",       "util-linux",
            "xz-utils",    "zip"};
}

Result<BaseInfo> buildBase(const fs::path& dataDirectory, const Progress& progress, std::stop_token cancel,
                           const BuildOptions& options)
{
    return Build(dataDirectory, progress, std::move(cancel), options).run();
}

} // namespace assay::sandbox::base
