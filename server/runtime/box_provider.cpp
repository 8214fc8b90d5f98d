// SPDX-License-Identifier: Apache-2.0
#include "server/runtime/box_provider.h"

#include "server/sandbox/bubblewrap/driver.h"

#include <algorithm>

namespace assay::runtime {

namespace {

std::filesystem::path initProgram()
{
    std::error_code error;
    const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    for (const auto& folder : {here, here / "../libexec/assay", here / "../lib/assay"})
        if (std::filesystem::exists(folder / "assay-init", error))
            return folder / "assay-init";
    return here / "assay-init";
}

} // namespace

Result<std::unique_ptr<BoxProvider>> BoxProvider::open(const Settings& settings, const DataDirectory& directory)
{
    std::unique_ptr<BoxProvider> provider(new BoxProvider(directory));
    provider->m_default = settings.driver;
    (void)provider->m_base.get(); // reading it takes a while, which the start has and the first run has not
    auto bubblewrap =
        sandbox::bubblewrap::Driver::open({.dataDirectory = directory.path(), .initProgram = initProgram()});
    if (!bubblewrap)
        return forward(bubblewrap);
    provider->m_drivers.push_back(std::move(*bubblewrap));
    return provider;
}

Result<sandbox::BoxDriver*> BoxProvider::driver(std::string_view name)
{
    if (auto base = m_base.get(); !base)
        return refuse("environment_unavailable", "the base root cannot be used: " + base.error().message);
    const std::string_view wanted = name.empty() ? std::string_view(m_default) : name;
    for (const auto& driver : m_drivers)
        if (driver->name() == wanted)
            return driver.get();
    return refuse("driver_unavailable", "this server has no driver of that name");
}

sandbox::BaseRoot BoxProvider::base()
{
    auto base = m_base.get();
    return base ? std::move(*base) : sandbox::BaseRoot{.digest = "unusable", .root = "/.assay/unusable"};
}

std::vector<std::string> BoxProvider::names() const
{
    std::vector<std::string> out;
    for (const auto& driver : m_drivers)
        out.emplace_back(driver->name());
    return out;
}

Result<std::vector<std::string>> BoxProvider::reap()
{
    std::vector<std::string> all;
    for (const auto& driver : m_drivers) {
        auto removed = driver->reap();
        if (!removed)
            return forward(removed);
        std::ranges::move(*removed, std::back_inserter(all));
    }
    return all;
}

} // namespace assay::runtime
