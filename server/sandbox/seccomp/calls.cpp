// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/seccomp/calls.h"

#include <array>

namespace assay::sandbox::seccomp {

namespace {

using namespace std::string_view_literals;

constexpr std::array kAllowed{
    // files, by path and by descriptor
    "access"sv, "chdir"sv, "chmod"sv, "chown"sv, "close"sv, "close_range"sv, "copy_file_range"sv, "creat"sv, "dup"sv,
    "dup2"sv, "dup3"sv, "faccessat"sv, "faccessat2"sv, "fadvise64"sv, "fallocate"sv, "fchdir"sv, "fchmod"sv,
    "fchmodat"sv, "fchmodat2"sv, "fchown"sv, "fchownat"sv, "fcntl"sv, "fdatasync"sv, "fgetxattr"sv, "flistxattr"sv,
    "flock"sv, "fremovexattr"sv, "fsetxattr"sv, "fstat"sv, "fstatfs"sv, "fsync"sv, "ftruncate"sv, "futimesat"sv,
    "getcwd"sv, "getdents"sv, "getdents64"sv, "getxattr"sv, "inotify_add_watch"sv, "inotify_init"sv, "inotify_init1"sv,
    "inotify_rm_watch"sv, "lchown"sv, "lgetxattr"sv, "link"sv, "linkat"sv, "listxattr"sv, "llistxattr"sv,
    "lremovexattr"sv, "lseek"sv, "lsetxattr"sv, "lstat"sv, "mkdir"sv, "mkdirat"sv, "mknod"sv, "mknodat"sv,
    "newfstatat"sv, "open"sv, "openat"sv, "openat2"sv, "pread64"sv, "preadv"sv, "preadv2"sv, "pwrite64"sv, "pwritev"sv,
    "pwritev2"sv, "read"sv, "readahead"sv, "readlink"sv, "readlinkat"sv, "readv"sv, "removexattr"sv, "rename"sv,
    "renameat"sv, "renameat2"sv, "rmdir"sv, "sendfile"sv, "setxattr"sv, "splice"sv, "stat"sv, "statfs"sv, "statx"sv,
    "symlink"sv, "symlinkat"sv, "sync"sv, "sync_file_range"sv, "syncfs"sv, "tee"sv, "truncate"sv, "umask"sv, "unlink"sv,
    "unlinkat"sv, "utime"sv, "utimensat"sv, "utimes"sv, "vmsplice"sv, "write"sv, "writev"sv, "cachestat"sv,
    // memory
    "brk"sv, "get_mempolicy"sv, "madvise"sv, "map_shadow_stack"sv, "membarrier"sv, "memfd_create"sv, "mincore"sv,
    "mlock"sv, "mlock2"sv, "mlockall"sv, "mmap"sv, "mprotect"sv, "mremap"sv, "mseal"sv, "msync"sv, "munlock"sv,
    "munlockall"sv, "munmap"sv, "pkey_alloc"sv, "pkey_free"sv, "pkey_mprotect"sv, "remap_file_pages"sv,
    // processes, threads, identity (a box has no capability, so the set calls change nothing they should not)
    "arch_prctl"sv, "capget"sv, "capset"sv, "execve"sv, "execveat"sv, "exit"sv, "exit_group"sv, "fork"sv, "getegid"sv,
    "geteuid"sv, "getgid"sv, "getgroups"sv, "getpgid"sv, "getpgrp"sv, "getpid"sv, "getppid"sv, "getpriority"sv,
    "getresgid"sv, "getresuid"sv, "getrlimit"sv, "getrusage"sv, "getsid"sv, "gettid"sv, "getuid"sv, "getcpu"sv,
    "ioprio_get"sv, "landlock_add_rule"sv, "landlock_create_ruleset"sv, "landlock_restrict_self"sv, "pidfd_open"sv,
    "pidfd_send_signal"sv, "prctl"sv, "rseq"sv, "sched_get_priority_max"sv, "sched_get_priority_min"sv,
    "sched_getaffinity"sv, "sched_getattr"sv, "sched_getparam"sv, "sched_getscheduler"sv, "sched_rr_get_interval"sv,
    "sched_setattr"sv, "sched_setparam"sv, "sched_setscheduler"sv, "sched_yield"sv, "seccomp"sv, "set_robust_list"sv,
    "get_robust_list"sv, "set_tid_address"sv, "setfsgid"sv, "setfsuid"sv, "setgid"sv, "setgroups"sv, "setpgid"sv,
    "setpriority"sv, "setregid"sv, "setresgid"sv, "setresuid"sv, "setreuid"sv, "setrlimit"sv, "setsid"sv, "setuid"sv,
    "sysinfo"sv, "times"sv, "uname"sv, "vfork"sv, "wait4"sv, "waitid"sv,
    // signals, time, waiting
    "alarm"sv, "clock_getres"sv, "clock_gettime"sv, "clock_nanosleep"sv, "epoll_create"sv, "epoll_create1"sv,
    "epoll_ctl"sv, "epoll_ctl_old"sv, "epoll_pwait"sv, "epoll_pwait2"sv, "epoll_wait"sv, "epoll_wait_old"sv,
    "eventfd"sv, "eventfd2"sv, "futex"sv, "futex_requeue"sv, "futex_wait"sv, "futex_waitv"sv, "futex_wake"sv,
    "getitimer"sv, "gettimeofday"sv, "kill"sv, "nanosleep"sv, "pause"sv, "poll"sv, "ppoll"sv, "pselect6"sv,
    "restart_syscall"sv, "rt_sigaction"sv, "rt_sigpending"sv, "rt_sigprocmask"sv, "rt_sigqueueinfo"sv, "rt_sigreturn"sv,
    "rt_sigsuspend"sv, "rt_sigtimedwait"sv, "rt_tgsigqueueinfo"sv, "select"sv, "setitimer"sv, "sigaltstack"sv,
    "signalfd"sv, "signalfd4"sv, "tgkill"sv, "time"sv, "timer_create"sv, "timer_delete"sv, "timer_getoverrun"sv,
    "timer_gettime"sv, "timer_settime"sv, "timerfd_create"sv, "timerfd_gettime"sv, "timerfd_settime"sv, "tkill"sv,
    "getrandom"sv,
    // pipes, System V and POSIX IPC (of the box's own namespace), sockets once one exists
    "accept"sv, "accept4"sv, "bind"sv, "connect"sv, "getpeername"sv, "getsockname"sv, "getsockopt"sv, "listen"sv,
    "mq_getsetattr"sv, "mq_notify"sv, "mq_open"sv, "mq_timedreceive"sv, "mq_timedsend"sv, "mq_unlink"sv, "msgctl"sv,
    "msgget"sv, "msgrcv"sv, "msgsnd"sv, "pipe"sv, "pipe2"sv, "recvfrom"sv, "recvmmsg"sv, "recvmsg"sv, "semctl"sv,
    "semget"sv, "semop"sv, "semtimedop"sv, "sendmmsg"sv, "sendmsg"sv, "sendto"sv, "setsockopt"sv, "shmat"sv, "shmctl"sv,
    "shmdt"sv, "shmget"sv, "shutdown"sv};

constexpr std::array kRefused{
    // namespaces and mounts: a box is made once, from outside
    "unshare"sv, "setns"sv, "mount"sv, "umount2"sv, "pivot_root"sv, "chroot"sv, "mount_setattr"sv, "move_mount"sv,
    "open_tree"sv, "fsopen"sv, "fsconfig"sv, "fsmount"sv, "fspick"sv, "statmount"sv, "listmount"sv,
    // looking into other processes
    "ptrace"sv, "process_vm_readv"sv, "process_vm_writev"sv, "process_madvise"sv, "process_mrelease"sv, "kcmp"sv,
    "pidfd_getfd"sv,
    // large or historically fragile parts of the kernel
    "bpf"sv, "perf_event_open"sv, "userfaultfd"sv, "io_uring_setup"sv, "io_uring_enter"sv, "io_uring_register"sv,
    "io_setup"sv, "io_submit"sv, "io_cancel"sv, "io_destroy"sv, "io_getevents"sv, "io_pgetevents"sv, "add_key"sv,
    "request_key"sv, "keyctl"sv, "fanotify_init"sv, "fanotify_mark"sv, "open_by_handle_at"sv, "name_to_handle_at"sv,
    "lookup_dcookie"sv, "memfd_secret"sv, "modify_ldt"sv, "mbind"sv, "set_mempolicy"sv, "set_mempolicy_home_node"sv,
    "migrate_pages"sv, "move_pages"sv, "ioprio_set"sv,
    // the machine's administration
    "acct"sv, "adjtimex"sv, "clock_adjtime"sv, "clock_settime"sv, "settimeofday"sv, "delete_module"sv, "init_module"sv,
    "finit_module"sv, "create_module"sv, "ioperm"sv, "iopl"sv, "kexec_load"sv, "kexec_file_load"sv, "nfsservctl"sv,
    "quotactl"sv, "quotactl_fd"sv, "reboot"sv, "sethostname"sv, "setdomainname"sv, "swapon"sv, "swapoff"sv, "syslog"sv,
    "_sysctl"sv, "uselib"sv, "ustat"sv, "sysfs"sv, "vhangup"sv, "vm86"sv, "vserver"sv};

} // namespace

std::span<const std::string_view> allowedCalls() { return kAllowed; }

std::span<const std::string_view> refusedCalls() { return kRefused; }

} // namespace assay::sandbox::seccomp
