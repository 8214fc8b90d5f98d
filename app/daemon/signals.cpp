// SPDX-License-Identifier: Apache-2.0
#include "app/daemon/signals.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace assay::daemon {

namespace {

constexpr int kExitBySecondSignal = 1;

// A signal handler reaches nothing but globals.
int signalEvent = -1;
volatile std::sig_atomic_t signalsSeen = 0;

void onSignal(int)
{
    const int before = errno;
    if (signalsSeen > 0)
        ::_exit(kExitBySecondSignal);
    signalsSeen = 1;
    const std::uint64_t one = 1;
    if (::write(signalEvent, &one, sizeof one) < 0)
        ::_exit(kExitBySecondSignal);
    errno = before;
}

void handle(int signal, void (*handler)(int))
{
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
}

} // namespace

Signals::Signals() : m_failure(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    signalEvent = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    handle(SIGTERM, onSignal);
    handle(SIGINT, onSignal);
}

Signals::~Signals()
{
    handle(SIGTERM, SIG_DFL);
    handle(SIGINT, SIG_DFL);
    ::close(signalEvent);
}

Signals::Wake Signals::wait()
{
    std::array<pollfd, 2> entries{{{signalEvent, POLLIN, 0}, {m_failure.get(), POLLIN, 0}}};
    while (::poll(entries.data(), entries.size(), -1) < 0 && errno == EINTR) {
    }
    return entries[1].revents != 0 ? Wake::Failure : Wake::Signal;
}

void Signals::fail()
{
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(m_failure.get(), &one, sizeof one);
}

} // namespace assay::daemon
