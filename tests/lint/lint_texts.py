# SPDX-License-Identifier: Apache-2.0
"""What files must and must not say: the licence line; no package registry's host; no note to do something later; no
machine's own paths; no tabs or trailing blanks in code; no conflict marks."""

import re

import source_tree

# In pieces, so that this file does not break its own rule.
HOSTS = [
    ("deb", ".debian", ".org"),
    ("security", ".debian", ".org"),
    ("snapshot", ".debian", ".org"),
    ("ftp.[a-z.]*", "debian", ".org"),
    ("archive", ".ubuntu", ".com"),
    ("py", "pi", r"\.(org|python)"),
    ("files", ".python", "hosted"),
    ("npm", "js", ".(org|com)"),
    ("yarn", "pkg", ".com"),
    ("crates", ".i", "o"),
    ("proxy", ".go", "lang"),
    ("ruby", "gems", ".org"),
    ("repo1?", ".mav", "en"),
    ("registry-1", ".doc", "ker"),
    ("index", ".doc", "ker"),
    ("gh", "cr", ".io"),
    ("qu", "ay", ".io"),
    ("dl-cdn", ".alpine", "linux"),
    ("conda", ".ana", "conda"),
]
HOST = re.compile(r"(?<![\w-])(?:" + "|".join("".join(p).replace(".", r"\.").replace(r"\\.", r"\.") for p in HOSTS) + ")", re.I)
LATER = re.compile(r"\b(?:" + "TO" + "DO|FIX" + "ME|XX" + "X)\\b")
CONFLICT = re.compile(r"^(?:<{7} |>{7} )", re.M)
MACHINE = re.compile(r"(?<![\w.])/(?:home|Users)/(?!user\b|you\b)[a-z]\w*/")

LICENCE = "SPDX-License-Identifier: Apache-2.0"


def needs_licence(root, path):
    if source_tree.is_cpp(path) or path.endswith((".py", ".js", ".mjs", ".sh", ".cmake", ".qml", ".1", ".bash")):
        return True
    return path.endswith("CMakeLists.txt") or bool(source_tree.shebang(root, path))


def check_licence(root, path, text):
    if needs_licence(root, path) and LICENCE not in "\n".join(text.splitlines()[:3]):
        yield source_tree.Finding(path, 1, f"the first line says '{LICENCE}'")


def check_blanks(path, text):
    if not source_tree.is_cpp(path) and not path.endswith((".py", "CMakeLists.txt")):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line != line.rstrip() or "\t" in line:
            yield source_tree.Finding(path, number, "no tabs, no blanks at the end of a line")


def check(root):
    for path in source_tree.files(root):
        text = source_tree.text_of(root, path)
        if text is None or path == "LICENSE":
            continue
        yield from check_licence(root, path, text)
        yield from check_blanks(path, text)
        for pattern, what in (
            (HOST, "names a package registry's host: tools use the machine's own configuration"),
            (LATER, "say what is, or file an issue; leave no note for later"),
            (CONFLICT, "a conflict mark"),
            (MACHINE, "a path of one machine"),
        ):
            for match in pattern.finditer(text):
                yield source_tree.Finding(path, source_tree.line_of(text, match.start()), what)


GOOD = "// " + LICENCE + "\n"
PLANTS = [
    ("clean", {"a.cpp": GOOD, "b.md": "words, the package docker.io too\n"}, ""),
    ("no licence", {"a.cpp": "int x;\n"}, "SPDX"),
    ("no licence in a script", {"run": "#!/bin/sh\ntrue\n"}, "SPDX"),
    ("registry", {"a.md": "see https://" + "py" + "pi.org/simple\n"}, "package registry"),
    ("registry of archives", {"a.sh": "# " + LICENCE + "\necho http://" + "deb.deb" + "ian.org/x\n"}, "package registry"),
    ("npm", {"a.md": "registry." + "npm" + "js.org\n"}, "package registry"),
    ("later", {"a.cpp": GOOD + "// TO" + "DO: more\n"}, "no note for later"),
    ("conflict", {"a.md": "<" * 7 + " HEAD\n"}, "conflict"),
    ("machine path", {"a.md": "in /home/" + "ann/src\n"}, "one machine"),
    ("trailing blank", {"a.cpp": GOOD + "int x; \n"}, "blanks"),
]

if __name__ == "__main__":
    source_tree.main(check, PLANTS, __doc__)
