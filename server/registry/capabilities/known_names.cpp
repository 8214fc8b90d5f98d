// SPDX-License-Identifier: Apache-2.0
#include "server/registry/capabilities/known_names.h"

#include <algorithm>
#include <array>

namespace assay::registry::capabilities {

namespace {

// Sorted by byte: looked up by halves.
constexpr std::array<std::string_view, 225> kPython{
    "__future__",   "__main__",     "_thread",      "_typeshed",    "abc",           "aifc",        "antigravity",
    "argparse",     "array",        "ast",          "asynchat",     "asyncio",       "asyncore",    "atexit",
    "audioop",      "base64",       "bdb",          "binascii",     "bisect",        "builtins",    "bz2",
    "cProfile",     "calendar",     "cgi",          "cgitb",        "chunk",         "cmath",       "cmd",
    "code",         "codecs",       "codeop",       "collections",  "colorsys",      "compileall",  "concurrent",
    "configparser", "contextlib",   "contextvars",  "copy",         "copyreg",       "crypt",       "csv",
    "ctypes",       "curses",       "dataclasses",  "datetime",     "dbm",           "decimal",     "difflib",
    "dis",          "distutils",    "doctest",      "email",        "encodings",     "ensurepip",   "enum",
    "errno",        "faulthandler", "fcntl",        "filecmp",      "fileinput",     "fnmatch",     "fractions",
    "ftplib",       "functools",    "gc",           "genericpath",  "getopt",        "getpass",     "gettext",
    "glob",         "graphlib",     "grp",          "gzip",         "hashlib",       "heapq",       "hmac",
    "html",         "http",         "idlelib",      "imaplib",      "imghdr",        "imp",         "importlib",
    "inspect",      "io",           "ipaddress",    "itertools",    "json",          "keyword",     "lib2to3",
    "linecache",    "locale",       "logging",      "lzma",         "mailbox",       "mailcap",     "marshal",
    "math",         "mimetypes",    "mmap",         "modulefinder", "msilib",        "msvcrt",      "multiprocessing",
    "netrc",        "nis",          "nntplib",      "nt",           "ntpath",        "nturl2path",  "numbers",
    "opcode",       "operator",     "optparse",     "os",           "ossaudiodev",   "pathlib",     "pdb",
    "pickle",       "pickletools",  "pip",          "pipes",        "pkg_resources", "pkgutil",     "platform",
    "plistlib",     "poplib",       "posix",        "posixpath",    "pprint",        "profile",     "pstats",
    "pty",          "pwd",          "py_compile",   "pyclbr",       "pydoc",         "pydoc_data",  "pyexpat",
    "queue",        "quopri",       "random",       "re",           "readline",      "reprlib",     "resource",
    "rlcompleter",  "runpy",        "sched",        "secrets",      "select",        "selectors",   "setuptools",
    "shelve",       "shlex",        "shutil",       "signal",       "site",          "smtpd",       "smtplib",
    "sndhdr",       "socket",       "socketserver", "spwd",         "sqlite3",       "sre_compile", "sre_constants",
    "sre_parse",    "ssl",          "stat",         "statistics",   "string",        "stringprep",  "struct",
    "subprocess",   "sunau",        "symtable",     "sys",          "sysconfig",     "syslog",      "tabnanny",
    "tarfile",      "telnetlib",    "tempfile",     "termios",      "textwrap",      "this",        "threading",
    "time",         "timeit",       "tkinter",      "token",        "tokenize",      "tomllib",     "trace",
    "traceback",    "tracemalloc",  "tty",          "turtle",       "turtledemo",    "types",       "typing",
    "unicodedata",  "unittest",     "urllib",       "uu",           "uuid",          "venv",        "warnings",
    "wave",         "weakref",      "webbrowser",   "wheel",        "winreg",        "winsound",    "wsgiref",
    "xdrlib",       "xml",          "xmlrpc",       "zipapp",       "zipfile",       "zipimport",   "zlib",
    "zoneinfo"};
static_assert(std::ranges::is_sorted(kPython));

constexpr std::array<std::string_view, 45> kNode{"assert",       "async_hooks",
                                                 "buffer",       "child_process",
                                                 "cluster",      "console",
                                                 "constants",    "crypto",
                                                 "dgram",        "diagnostics_channel",
                                                 "dns",          "domain",
                                                 "events",       "fs",
                                                 "http",         "http2",
                                                 "https",        "inspector",
                                                 "module",       "net",
                                                 "os",           "path",
                                                 "perf_hooks",   "process",
                                                 "punycode",     "querystring",
                                                 "readline",     "repl",
                                                 "sea",          "sqlite",
                                                 "stream",       "string_decoder",
                                                 "sys",          "test",
                                                 "timers",       "tls",
                                                 "trace_events", "tty",
                                                 "url",          "util",
                                                 "v8",           "vm",
                                                 "wasi",         "worker_threads",
                                                 "zlib"};
static_assert(std::ranges::is_sorted(kNode));

constexpr std::array<std::string_view, 22> kPythonNetwork{
    "aiohttp",   "asyncssh", "boto3",     "botocore",   "ftplib", "grpc",     "httplib2", "httpx",
    "imaplib",   "nntplib",  "paramiko",  "poplib",     "pycurl", "requests", "smtplib",  "socket",
    "telnetlib", "urllib3",  "websocket", "websockets", "xmlrpc", "zmq"};
static_assert(std::ranges::is_sorted(kPythonNetwork));

constexpr std::array<std::string_view, 16> kJavaScriptNetwork{
    "axios", "cross-fetch", "dgram",   "dns",        "got", "http",   "http2", "https", "isomorphic-fetch",
    "net",   "node-fetch",  "request", "superagent", "tls", "undici", "ws"};
static_assert(std::ranges::is_sorted(kJavaScriptNetwork));

} // namespace

bool isPythonStandard(std::string_view module) { return std::ranges::binary_search(kPython, module); }
bool isNodeStandard(std::string_view module) { return std::ranges::binary_search(kNode, module); }
bool isPythonNetwork(std::string_view module) { return std::ranges::binary_search(kPythonNetwork, module); }
bool isJavaScriptNetwork(std::string_view module) { return std::ranges::binary_search(kJavaScriptNetwork, module); }

} // namespace assay::registry::capabilities
