// SPDX-License-Identifier: Apache-2.0
#include "app/cli/audit_filter.h"
#include "server/core/file_io.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace assay::cli {

namespace {

constexpr std::uint64_t kPageBytes = 32ULL << 20; // of 5,000 rows of 1 KiB and their JSON

struct Options
{
    AuditFilterOptions filter;
    std::string output = "-";
    bool force = false;
};

/// Gives the pages to `write`, one after the other: none is kept.
Result<void> eachPage(ApiClient& api, const Options& options,
                      const std::function<Result<void>(std::string_view)>& write)
{
    auto query = options.filter.query();
    query.emplace_back("page_token", "");
    for (;;) {
        auto page = api.download("/v1/audit/export" + queryOf(query), kPageBytes);
        if (!page)
            return forward(page);
        if (auto written = write(page->body); !written)
            return written;
        query.back().second = page->header("assay-next-page-token");
        if (query.back().second.empty())
            return {};
    }
}

Result<int> toFile(Context& context, ApiClient& api, const Options& options)
{
    const int existing = options.force ? O_TRUNC : O_EXCL;
    auto file = openFile(options.output, O_WRONLY | O_CREAT | existing, 0600);
    if (!file)
        return fail(ErrorCode::Conflict, options.output + " cannot be written (" + std::strerror(errno) +
                                             "); choose another name, or --force");
    std::uint64_t bytes = 0;
    auto done = eachPage(api, options, [&](std::string_view lines) {
        bytes += lines.size();
        return writeAll(file->get(), lines);
    });
    if (!done)
        return forward(done);
    context.print(json::object{{"file", options.output}, {"size_bytes", bytes}}, [&](const json::value&) {
        return "wrote " + plain(options.output) + " (" + sizeText(bytes) + ")\n";
    });
    return kDone;
}

Result<int> exportRows(Context& context, const Options& options)
{
    auto api = context.api();
    if (!api)
        return forward(api);
    if (options.output != "-")
        return toFile(context, **api, options);
    auto done = eachPage(**api, options, [&](std::string_view lines) -> Result<void> {
        context.console.out(lines);
        return {};
    });
    return done ? Result<int>(kDone) : forward(done);
}

} // namespace

void addAuditExport(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("export", "Write rows as JSON lines, oldest first; without a filter the whole chain, "
                                           "which \"audit verify FILE\" can judge without a server");
    options->filter.addTo(command);
    command.option("-o,--output", options->output, "File to write, or - for standard output");
    command.flag("--force", options->force, "Replace an existing file");
    onCommand(command, context, std::move(options), exportRows);
}

} // namespace assay::cli
