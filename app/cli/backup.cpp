// SPDX-License-Identifier: Apache-2.0
#include "server/store/backup.h"
#include "app/cli/command.h"
#include "app/cli/local_data.h"
#include "server/store/database_file.h"

namespace assay::cli {

namespace {

struct Options
{
    std::string file;
    std::string data;
};

Result<int> backup(Context& context, const Options& options)
{
    auto path = existingDataDirectory(options.data);
    if (!path)
        return forward(path);
    context.console.progress("copying " + store::databaseFile(*path).string());
    auto copied = store::backupDatabase(store::databaseFile(*path), options.file);
    if (!copied)
        return forward(copied);
    std::error_code ignored;
    const json::value answer{{"file", options.file}, {"size_bytes", std::filesystem::file_size(options.file, ignored)}};
    context.print(answer, [&](const json::value& value) {
        return "wrote " + plain(options.file) + " (" + sizeText(numberOf(value, "size_bytes")) + ")\n";
    });
    return kDone;
}

} // namespace

void addBackup(Command& parent, Context& context)
{
    auto options = std::make_shared<Options>();
    Command command = parent.add("backup", "Copy a server's database into a new file, also while it serves");
    command.required("FILE", options->file, "File to make");
    command.option("--data", options->data, "Data directory [ASSAY_DATA]");
    onCommand(command, context, std::move(options), backup);
}

} // namespace assay::cli
