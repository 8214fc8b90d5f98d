// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/bubblewrap/failure.h"

#include "server/core/file_io.h"

#include <algorithm>
#include <cctype>

namespace assay::sandbox::bubblewrap {

namespace {

std::string knob(const std::string& proc, std::string_view name)
{
    auto text = readFile(proc + "/sys/" + std::string(name), 4096).value_or("");
    std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
    return text;
}

bool isAboutNamespaces(std::string_view message)
{
    return message.contains("ermissions to create new namespace") ||
           message.contains("ermissions to create a new namespace") ||
           message.contains("reating new namespace failed") || message.contains("unshare user ns") ||
           message.contains("ns failed");
}

bool isAboutIdentity(std::string_view message)
{
    return message.contains("uid map") || message.contains("gid map") || message.contains("RTM_NEWADDR");
}

Diagnosis namespaces(const std::string& proc)
{
    if (knob(proc, "user/max_user_namespaces") == "0")
        return {"this machine allows no user namespaces (user.max_user_namespaces is 0)",
                "set it as root: sysctl -w user.max_user_namespaces=15000, and keep it in /etc/sysctl.d"};
    if (knob(proc, "kernel/unprivileged_userns_clone") == "0")
        return {"this machine lets only root make user namespaces (kernel.unprivileged_userns_clone is 0)",
                "set it as root: sysctl -w kernel.unprivileged_userns_clone=1, and keep it in /etc/sysctl.d"};
    if (knob(proc, "kernel/apparmor_restrict_unprivileged_userns") == "1")
        return {"AppArmor lets no unconfined program make user namespaces "
                "(kernel.apparmor_restrict_unprivileged_userns is 1)",
                "load an AppArmor profile for bwrap that has the rule userns, or set that switch to 0 as root"};
    return {"this machine refuses a user namespace",
            "a container, a chroot or a system call filter around the server usually does; allow it user namespaces "
            "(clone with CLONE_NEWUSER), or run the server outside of it"};
}

} // namespace

Diagnosis diagnose(std::string_view message, const std::string& proc)
{
    if (isAboutNamespaces(message) || message.contains("needs to be setuid"))
        return namespaces(proc);
    if (isAboutIdentity(message)) {
        Diagnosis found = namespaces(proc);
        if (found.reason.contains("refuses"))
            found.reason = "this machine gives a new user namespace no rights of its own";
        return found;
    }
    if (message.contains("mount proc"))
        return {"a box cannot mount a /proc of its own here",
                "the server runs in a container whose /proc is partly hidden; start that container with an unmasked "
                "/proc (systempaths=unconfined), or run the server outside of it"};
    if (message.contains("nknown option") || message.contains("nrecognized option"))
        return missingProgram("bwrap");
    if (message.contains("seccomp"))
        return {"the kernel does not take the system call filter",
                "use a kernel built with CONFIG_SECCOMP_FILTER, and start the server without a filter that forbids it"};
    return {"a box could not be made", "see the server's log for bubblewrap's own message"};
}

Diagnosis missingProgram(std::string_view program)
{
    return {"bubblewrap 0.8 or newer was not found as " + std::string(program),
            "install the package bubblewrap, or name the program in the server's settings"};
}

} // namespace assay::sandbox::bubblewrap
