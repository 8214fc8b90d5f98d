# SPDX-License-Identifier: Apache-2.0
"""Who may include whom (docs/architecture.md). Any other include between folders of the project fails."""

import re

import source_tree

CORE = {"server/core"}
CONTRACT = CORE | {"server/contract"}
STORE = CONTRACT | {"server/store"}
DOMAIN = STORE | {"server/auth", "server/audit"}
RUNS = DOMAIN | {"server/registry", "server/retention", "server/sandbox", "server/egress"}
API = RUNS | {"server/runs"}
HTTP = API | {"server/api"}
RUNTIME = HTTP | {"server/http"}

# A folder may include itself, the folders named here and everything below them, and the single headers.
ALLOWED = {
    "server/core": set(),
    "server/contract": CORE,
    "server/store": CONTRACT,
    "server/auth": CONTRACT,
    # A decision and its row are one transaction, so the ledger knows the store; and who decided, but nothing of tokens.
    "server/audit": STORE | {"server/auth/identity.h"},
    "server/registry": DOMAIN,
    "server/retention": STORE,
    "server/sandbox": CONTRACT,
    "server/egress": CONTRACT,
    "server/runs": RUNS,
    "server/api": API,
    "server/http": HTTP,
    "server/runtime": RUNTIME,
    "app/daemon": RUNTIME | {"server/runtime"},
    "app/client": CONTRACT,
    # Beside contract and core: the pure package rules, and what local administration needs.
    "app/cli": CONTRACT
    | {
        "server/registry/package.h",
        "server/registry/archive.h",
        "server/registry/folder.h",
        "server/audit",
        "server/auth",
        "server/store",
        "server/sandbox/base",
        "server/runtime",
    },
}

BEAST_SOURCES = ("server/http/", "server/egress/", "server/sandbox/docker/", "app/cli/http_client.cpp", "tests/")
WITHOUT_QT = ("server/", "app/cli/", "app/daemon/")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def folder_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else ""


def permits(folder, target):
    if folder not in ALLOWED:
        return False
    return any(target == one or target.startswith(one + "/") for one in ALLOWED[folder] | {folder})


def check_project_include(path, line, target):
    folder = folder_of(path)
    if not target.startswith(("server/", "app/", "ui/", "tests/", "cmake/")):
        yield source_tree.Finding(path, line, f'"{target}": write includes of the project from its root')
    elif path.startswith(("server/", "app/")) and not permits(folder, target):
        yield source_tree.Finding(path, line, f'{folder or "this place"} may not include "{target}": see ALLOWED in {__name__}')


def check_system_include(path, line, target):
    if target.startswith("boost/beast") and not (path.endswith(".cpp") and path.startswith(BEAST_SOURCES)):
        yield source_tree.Finding(path, line, "Beast headers belong in the .cpp files of the HTTP folders and one client")
    if path.startswith(WITHOUT_QT) and re.match(r"Q[A-Z]|Qt", target):
        yield source_tree.Finding(path, line, "nothing under server/, app/cli/ or app/daemon/ includes Qt")


def check(root):
    for path in source_tree.files(root):
        if path.endswith("CMakeLists.txt") and path.startswith(WITHOUT_QT):
            text = source_tree.text_of(root, path) or ""
            for match in re.finditer(r"\bQt[56]?::|find_package\(Qt", text):
                yield source_tree.Finding(path, source_tree.line_of(text, match.start()), "nothing here links Qt")
        if not source_tree.is_cpp(path):
            continue
        text = source_tree.text_of(root, path) or ""
        for match in INCLUDE.finditer(text):
            line = source_tree.line_of(text, match.start())
            if match[1] == "<":
                yield from check_system_include(path, line, match[2])
            else:
                yield from check_project_include(path, line, match[2]) if not match[2].endswith(".moc") else ()


PLANTS = [
    ("clean", {"server/registry/a.cpp": '#include "server/store/database.h"\n#include <vector>\n'}, ""),
    ("upwards", {"server/core/a.cpp": '#include "server/store/database.h"\n'}, "may not include"),
    ("sibling", {"server/store/a.h": '#include "server/auth/token.h"\n'}, "may not include"),
    ("the ledger and tokens", {"server/audit/a.h": '#include "server/auth/token_service.h"\n'}, "may not include"),
    ("transport in the domain", {"server/runs/a.cpp": '  #  include "server/http/listener.h"\n'}, "may not include"),
    ("the command line and services", {"app/cli/a.cpp": '#include "server/registry/skill_service.h"\n'}, "may not include"),
    ("an unknown folder", {"server/extra/a.cpp": '#include "server/core/json.h"\n'}, "may not include"),
    ("not from the root", {"server/core/a.cpp": '#include "digest.h"\n'}, "from its root"),
    ("Beast in a header", {"server/http/a.h": "#include <boost/beast/core.hpp>\n"}, "Beast"),
    ("Beast in the domain", {"server/runs/a.cpp": "#include <boost/beast/core.hpp>\n"}, "Beast"),
    ("Qt in the server", {"server/core/a.cpp": "#include <QString>\n"}, "Qt"),
    ("Qt in a build file", {"server/core/CMakeLists.txt": "target_link_libraries(x Qt6::Core)\n"}, "links Qt"),
]

if __name__ == "__main__":
    source_tree.main(check, PLANTS, __doc__)
