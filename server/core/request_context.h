// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace assay {

/// Says, on the thread that handles a request, which one it is: for log lines below, however deep. The server makes the
/// id; nothing that a client sends becomes one. Nests; confined to its thread and scope. `id` outlives it.
class RequestContext
{
public:
    explicit RequestContext(std::string_view id);
    ~RequestContext();
    RequestContext(const RequestContext&) = delete;
    RequestContext& operator=(const RequestContext&) = delete;

    /// "req_..." of the request that this thread handles; empty for none.
    static std::string_view current();

private:
    std::string_view m_outer;
};

} // namespace assay
