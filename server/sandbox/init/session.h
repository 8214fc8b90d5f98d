// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/sandbox/init/command.h"
#include "server/sandbox/init/file_transfer.h"

namespace assay::sandbox::init {

/// The whole life of `assay-init`: greets, serves one request after the other, and when the channel ends, kills
/// everything and returns. Refuses by ending whatever the protocol does not allow.
class Session
{
public:
    Session(Link& link, ProcessTree& tree, std::uint16_t helloFlags);

    /// The exit status: 0 when the channel ended, 70 when the protocol was broken.
    int run();

private:
    void greet();
    bool handleFrames();
    bool handle(const Frame& frame);
    bool handleRunning(const Frame& frame);
    bool handleNew(const Frame& frame);
    bool setUp(std::string_view payload);
    bool takeCommandPart(std::string_view payload);
    bool startCommand(const Frame& frame);
    bool walk(const Frame& frame);
    bool measure(const Frame& frame);
    void wait();
    void endAll();

    Link& m_link;
    ProcessTree& m_tree;
    Workspace m_workspace;
    Command m_command;
    FileTransfer m_files;
    std::uint16_t m_helloFlags;
    bool m_isSetUp = false;
    std::uint32_t m_lastStream = 0;
    int m_signals = -1;
    std::size_t m_partBytes = 0;
    char m_skills[channel::kMaxPathBytes] = {};
    char m_parts[channel::kMaxCommandBytes];
};

} // namespace assay::sandbox::init
