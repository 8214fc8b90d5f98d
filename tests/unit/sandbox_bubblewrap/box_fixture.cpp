// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sandbox_bubblewrap/box_fixture.h"

#include "server/core/file_io.h"
#include "server/core/random.h"

#include <fstream>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace assay::test {

namespace fs = std::filesystem;
using namespace sandbox;

namespace {

bool readExactly(int fd, char* to, std::size_t size)
{
    while (size > 0) {
        pollfd watched{fd, POLLIN, 0};
        if (::poll(&watched, 1, 30'000) <= 0)
            return false;
        const ssize_t got = ::read(fd, to, size);
        if (got <= 0)
            return false;
        to += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

void mustWrite(const fs::path& path, const std::string& text)
{
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush())
        qFatal("cannot write %s", path.c_str());
}

} // namespace

bool Answer::exitedWith(int code) const { return !lost && WIFEXITED(status) && WEXITSTATUS(status) == code; }

Answer runIn(BoxHandle& box, const std::vector<std::string>& argv)
{
    std::string words;
    for (const std::string& word : argv)
        words.append(word).push_back('\0');
    const auto size = static_cast<std::uint32_t>(words.size());
    std::string request(reinterpret_cast<const char*>(&size), sizeof size);
    request += words;
    Answer answer;
    if (::send(box.channel(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
        return answer;
    std::array<std::uint32_t, 2> head{};
    if (!readExactly(box.channel(), reinterpret_cast<char*>(head.data()), sizeof head))
        return answer;
    answer.status = static_cast<int>(head[0]);
    answer.output.resize(head[1]);
    answer.lost = !readExactly(box.channel(), answer.output.data(), answer.output.size());
    return answer;
}

Answer shellIn(BoxHandle& box, const std::string& text) { return runIn(box, {"sh", "-c", text}); }

Answer pythonIn(BoxHandle& box, const std::string& text) { return runIn(box, {"python3", "-I", "-c", text}); }

BoxFixture::BoxFixture() : m_data(m_folder.path().toStdString() + "/data")
{
    fs::create_directories(m_data);
    fs::permissions(m_data, fs::perms::owner_all);
    auto driver = bubblewrap::Driver::open(options());
    if (!driver)
        qFatal("the driver cannot be opened: %s", explain(driver).constData());
    m_driver = std::move(*driver);
}

bubblewrap::Options BoxFixture::options() const
{
    bubblewrap::Options options;
    options.dataDirectory = m_data;
    options.initProgram = ASSAY_STANDIN_INIT;
    return options;
}

BoxSpec BoxFixture::spec() const
{
    BoxSpec spec;
    spec.id = "run_" + toHex(randomBytes(8));
    spec.limits.memoryBytes = 256U << 20;
    spec.limits.pids = 64;
    spec.limits.workspaceBytes = 8U << 20;
    spec.limits.tmpBytes = 4U << 20;
    spec.base.digest = "host, unpinned";
    return spec;
}

PinnedPackage BoxFixture::package(const std::string& name,
                                  const std::vector<std::pair<std::string, std::string>>& files) const
{
    PinnedPackage package;
    package.name = name;
    package.tree = m_data / "trees" / name;
    fs::create_directories(package.tree);
    for (const auto& [file, content] : files) {
        mustWrite(package.tree / file, content);
        ::chmod((package.tree / file).c_str(), 0444);
    }
    ::chmod(package.tree.c_str(), 0555);
    return package;
}

std::unique_ptr<BoxHandle> BoxFixture::box() { return box(spec()); }

std::unique_ptr<BoxHandle> BoxFixture::box(const BoxSpec& spec)
{
    auto made = m_driver->create(spec);
    if (!made)
        qFatal("no box: %s", explain(made).constData());
    return std::move(*made);
}

std::size_t processesOf(const std::string& instance)
{
    std::size_t found = 0;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc", error))
        if (std::isdigit(static_cast<unsigned char>(entry.path().filename().string().front())) != 0)
            found += readFile(entry.path() / "cgroup", 1U << 16).value_or("").contains("/assay-" + instance + "/");
    return found;
}

std::vector<std::string> controlGroupsOf(const std::string& instance)
{
    std::vector<std::string> found;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator("/sys/fs/cgroup", error))
        if (entry.is_directory(error) && entry.path().parent_path().filename() == "assay-" + instance)
            found.push_back(entry.path().string());
    return found;
}

bool eventually(const std::function<bool()>& condition)
{
    for (int round = 0; round < 1000; ++round) {
        if (condition())
            return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

std::size_t openDescriptors()
{
    std::error_code error;
    return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd", error), {}));
}

} // namespace assay::test
