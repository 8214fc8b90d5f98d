// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/base/current_base.h"

#include "server/sandbox/base/base_layout.h"

#include <sys/stat.h>

namespace assay::sandbox::base {

CurrentBase::Stamp CurrentBase::stamp() const
{
    struct stat info{};
    if (::stat(basesFolder(m_dataDirectory).c_str(), &info) != 0)
        return {};
    return {info.st_ino, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

Result<BaseRoot> CurrentBase::get()
{
    const std::lock_guard lock(m_mutex);
    // Before the selection: what comes while it looks is seen next time.
    const Stamp now = stamp();
    if (!m_selected || now != m_seen) {
        m_selected = selectBase(m_dataDirectory);
        m_seen = now;
    }
    return *m_selected;
}

} // namespace assay::sandbox::base
