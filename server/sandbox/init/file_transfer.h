// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/init/link.h"
#include "server/sandbox/init/workspace.h"

namespace assay::sandbox::init {

/// Files into the workspace, and result files out of it. Reads and writes at once; only files of a box's own file
/// systems are touched, which do not block.
class FileTransfer
{
public:
    FileTransfer(Link& link, const Workspace& workspace) : m_link(link), m_workspace(workspace) {}

    /// A file is on its way in.
    bool isReceiving() const { return m_receiving; }
    std::uint32_t stream() const { return m_stream; }

    /// Each answers false for what the protocol does not allow; what the file system refuses is answered in a frame.
    bool beginPut(std::uint32_t stream, std::string_view payload);
    bool takeBytes(std::string_view bytes);
    bool endPut();

    /// Sends one file below /workspace/out whole, then Done; or Failed.
    bool sendFile(std::uint32_t stream, std::string_view payload);

    void sendFailed(std::uint32_t stream, int error);

private:
    void abandon(int error);
    void sendBytes(int fd, std::uint32_t stream, std::uint64_t limit);

    Link& m_link;
    const Workspace& m_workspace;
    bool m_receiving = false;
    std::uint32_t m_stream = 0;
    std::uint64_t m_expected = 0;
    std::uint64_t m_received = 0;
    int m_parent = -1;
    int m_file = -1;
    int m_error = 0; ///< of this file so far; the rest of its bytes is dropped
    char m_name[256] = {};
};

} // namespace assay::sandbox::init
