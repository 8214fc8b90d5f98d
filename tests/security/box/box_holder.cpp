// SPDX-License-Identifier: Apache-2.0
// A server of its own for the tests that kill one or take something away from it.
//   box_holder hold DATA INIT COUNT    makes COUNT boxes, prints "ready", waits for the end of its input
//   box_holder probe DATA INIT         prints the driver's state, reason and remedy, one a line
//   box_holder probe-without-userns DATA INIT    the same where no further user namespace may be made
#include "server/core/file_io.h"
#include "server/sandbox/bubblewrap/driver.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

using namespace assay;
using namespace assay::sandbox;

namespace {

bool put(const std::string& path, std::string_view text)
{
    auto fd = openFile(path, O_WRONLY);
    return fd && writeAll(fd->get(), text).has_value();
}

std::unique_ptr<bubblewrap::Driver> open(char** words)
{
    bubblewrap::Options options;
    options.dataDirectory = words[0];
    options.initProgram = words[1];
    auto driver = bubblewrap::Driver::open(options);
    if (!driver)
        std::fprintf(stderr, "%s [%s]\n", driver.error().message.c_str(), driver.error().detail.c_str());
    return driver ? std::move(*driver) : nullptr;
}

int hold(char** words)
{
    auto driver = open(words);
    std::vector<std::unique_ptr<BoxHandle>> boxes;
    for (int i = 0; driver && i < std::atoi(words[2]); ++i) {
        BoxSpec spec;
        spec.id = "held_" + std::to_string(i);
        auto box = driver->create(spec);
        if (!box)
            return std::fprintf(stderr, "%s\n", box.error().detail.c_str()), 1;
        boxes.push_back(std::move(*box));
    }
    std::puts("ready");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    return 0;
}

int probe(char** words)
{
    auto driver = open(words);
    if (!driver)
        return 1;
    const DriverStatus status = driver->probe();
    std::printf("%s\n%s\n%s\n", status.state == DriverState::Ready ? "ready" : "unavailable", status.reason.c_str(),
                status.remedy.c_str());
    BoxSpec spec;
    spec.id = "weaker";
    const auto box = driver->create(spec);
    std::printf("%s\n", box ? "a box was made" : box.error().reason.c_str());
    return 0;
}

/// All users stay what they are, so that only the one limit is different.
int withoutNamespaces(char** words)
{
    int ready[2];
    int mapped[2];
    if (pipe(ready) != 0 || pipe(mapped) != 0)
        return 2;
    const pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || write(ready[1], "x", 1) != 1 || read(mapped[0], &byte, 1) != 1)
            _exit(3);
        if (!put("/proc/sys/user/max_user_namespaces", "0"))
            _exit(4);
        const int status = probe(words);
        std::fflush(stdout);
        _exit(status);
    }
    char byte = 0;
    const std::string process = "/proc/" + std::to_string(child);
    if (read(ready[0], &byte, 1) != 1 || !put(process + "/uid_map", "0 0 4294967295") ||
        !put(process + "/gid_map", "0 0 4294967295") || write(mapped[1], "x", 1) != 1)
        return 5;
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 6;
}

} // namespace

int main(int count, char** words)
{
    const std::string_view mode = count > 3 ? words[1] : "";
    if (mode == "hold" && count > 4)
        return hold(words + 2);
    if (mode == "probe")
        return probe(words + 2);
    if (mode == "probe-without-userns")
        return withoutNamespaces(words + 2);
    return 2;
}
