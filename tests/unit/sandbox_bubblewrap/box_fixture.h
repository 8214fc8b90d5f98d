// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/bubblewrap/driver.h"
#include "tests/support/test_support.h"

#include <QTemporaryDir>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace assay::test {

/// A command's raw wait status and all its output.
struct Answer
{
    int status = -1;
    std::string output;
    bool lost = true; ///< the box did not answer
    bool exitedWith(int code) const;
};

/// Runs one command in a box whose init is the tests' stand-in. 30 s at most.
Answer runIn(sandbox::BoxHandle& box, const std::vector<std::string>& argv);
/// `sh -c text`
Answer shellIn(sandbox::BoxHandle& box, const std::string& text);
/// `python3 -I -c text`
Answer pythonIn(sandbox::BoxHandle& box, const std::string& text);

/// A driver with a data directory (mode 0700) of its own.
class BoxFixture
{
public:
    BoxFixture();
    sandbox::bubblewrap::Driver& driver() { return *m_driver; }
    std::filesystem::path data() const { return m_data; }
    sandbox::bubblewrap::Options options() const;

    /// A spec with small, fast limits and a fresh id.
    sandbox::BoxSpec spec() const;
    /// A package tree in the data directory with these files (name, content), sealed as the materializer seals it.
    sandbox::PinnedPackage package(const std::string& name,
                                   const std::vector<std::pair<std::string, std::string>>& files) const;
    std::unique_ptr<sandbox::BoxHandle> box();
    std::unique_ptr<sandbox::BoxHandle> box(const sandbox::BoxSpec& spec);

private:
    QTemporaryDir m_folder;
    std::filesystem::path m_data;
    std::unique_ptr<sandbox::bubblewrap::Driver> m_driver;
};

/// Processes in control groups of this server instance.
std::size_t processesOf(const std::string& instance);
/// Control groups of this server instance's boxes.
std::vector<std::string> controlGroupsOf(const std::string& instance);
std::size_t openDescriptors();
/// Asks again for 10 s at most until it is true.
bool eventually(const std::function<bool()>& condition);

} // namespace assay::test
