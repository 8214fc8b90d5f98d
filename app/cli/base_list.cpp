// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"
#include "app/cli/local_data.h"
#include "server/sandbox/base/base_store.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string data;
};

std::string describe(const json::value& answer)
{
    TextTable table({"BASE", "BUILT", "SIZE", "FILES"});
    for (const json::value& one : itemsOf(answer, "items"))
        table.add({textOf(one, "digest"), textOf(one, "created_at"), sizeText(numberOf(one, "size_bytes")),
                   std::to_string(numberOf(one, "files"))});
    return table.hasRows() ? table.text()
                           : "no base yet: boxes use the host's directories (host, unpinned); `assayctl "
                             "base build` makes one\n";
}

Result<int> list(Context& context, const Options& options)
{
    auto path = existingDataDirectory(options.data);
    if (!path)
        return forward(path);
    auto bases = sandbox::base::listBases(*path);
    if (!bases)
        return forward(bases);
    json::array items;
    for (const auto& base : *bases)
        items.push_back(json::object{{"digest", base.digest},
                                     {"created_at", formatTimestamp(base.createdAt)},
                                     {"size_bytes", base.sizeBytes},
                                     {"files", base.files},
                                     {"packages", json::value_from(base.packages)}});
    context.print(json::object{{"items", std::move(items)}}, describe);
    return kDone;
}

} // namespace

void addBaseList(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("list", "List the pinned roots that boxes are made of");
    command.option("--data", options->data, "Data directory [ASSAY_DATA]");
    onCommand(command, context, std::move(options), list);
}

} // namespace assay::cli
