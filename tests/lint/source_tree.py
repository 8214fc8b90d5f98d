# SPDX-License-Identifier: Apache-2.0
"""What every lint shares: the project's files, comment-free C++, findings, and the frame of a lint's main program."""

import argparse
import os
import pathlib
import re
import sys
import tempfile

SKIPPED = {".git", ".cache", ".github", "build", "node_modules", "__pycache__"}

# Comments, string and character literals, in the order in which they must be recognized.
_TOKENS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\\ ]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])+\'',
    re.S,
)


class Finding:
    """One broken rule: where, and what to do about it."""

    def __init__(self, path, line, text):
        self.path, self.line, self.text = path, line, text

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


def files(root):
    """Every file of the project as a POSIX path relative to `root`, sorted."""
    found = []
    for folder, names, leaves in os.walk(root):
        names[:] = [n for n in names if n not in SKIPPED]
        for leaf in set(leaves) - SKIPPED:
            path = pathlib.Path(folder, leaf)
            if not path.is_symlink() and path.is_file():
                found.append(path.relative_to(root).as_posix())
    return sorted(found)


def text_of(root, path):
    """The file's text, or None when it is not UTF-8: then it is an asset and no lint reads it."""
    try:
        return pathlib.Path(root, path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def is_cpp(path):
    return path.endswith((".cpp", ".h"))


def is_python(root, path):
    return path.endswith(".py") or (not pathlib.PurePath(path).suffix and shebang(root, path).endswith("python3"))


def is_shell(root, path):
    return path.endswith((".sh", ".bash")) or shebang(root, path).endswith(("bash", "/sh"))


def shebang(root, path):
    with open(pathlib.Path(root, path), "rb") as file:
        first = file.readline(200)
    return first.decode("utf-8", "replace").strip() if first.startswith(b"#!") else ""


def without_literals(code):
    """The code with comments and literals blanked out; offsets and line numbers stay."""

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))

    return _TOKENS.sub(blank, code)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def _planted(check, plants):
    """Runs `check` on trees that hold one planted violation each (and one clean tree); lists what was not found."""
    missed = []
    for name, tree, expected in plants:
        with tempfile.TemporaryDirectory() as root:
            for path, content in tree.items():
                target = pathlib.Path(root, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(content, encoding="utf-8")
            found = [str(f) for f in check(root)]
        hit = any(expected in f for f in found) if expected else not found
        if not hit:
            missed.append(f"self-test '{name}': wanted {expected or 'no finding'!r}, got {found}")
    return missed


def main(check, plants, description):
    """`--root DIR` lints a tree; `--self-test` proves that each planted violation is found."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2], type=pathlib.Path)
    options.add_argument("--self-test", action="store_true")
    arguments = options.parse_args()
    if arguments.self_test:
        findings = _planted(check, plants)
    else:
        findings = [str(f) for f in check(arguments.root)]
    for finding in findings:
        print(finding)
    print(f"{len(findings)} finding(s)")
    sys.exit(1 if findings else 0)
