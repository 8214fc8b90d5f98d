# SPDX-License-Identifier: Apache-2.0
"""Findings of clang-format (C++), shellcheck (shell), mandoc (manual pages), and the syntax of Python, JSON and JavaScript."""

import ast
import json
import pathlib
import shutil
import subprocess

import source_tree

CHUNK = 64


def run(command, root):
    if not shutil.which(command[0]):
        return [f"{command[0]} is not installed; dev/packages.txt names it"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300, check=False)
    return [line for line in (done.stdout + done.stderr).splitlines() if line.strip()] if done.returncode else []


def chunks(paths):
    return [paths[i : i + CHUNK] for i in range(0, len(paths), CHUNK)]


def check_cpp(root, paths):
    style = pathlib.Path(__file__).resolve().parents[2] / ".clang-format"
    for some in chunks([p for p in paths if source_tree.is_cpp(p)]):
        for line in run(["clang-format", f"--style=file:{style}", "--dry-run", "--Werror", *some], root):
            if "error:" in line or "not installed" in line:
                yield source_tree.Finding("clang-format", 0, line)


def check_shell(root, paths):
    for some in chunks([p for p in paths if source_tree.is_shell(root, p)]):
        for line in run(["shellcheck", "--format=gcc", "--severity=info", "--external-sources", *some], root):
            yield source_tree.Finding("shellcheck", 0, line)


def check_manual(root, paths):
    for some in chunks([p for p in paths if p.startswith("packaging/") and p.endswith(".1")]):
        for line in run(["mandoc", "-T", "lint", "-W", "warning", *some], root):
            yield source_tree.Finding("mandoc", 0, line)


def check_python(root, paths):
    for path in paths:
        if source_tree.is_python(root, path):
            try:
                ast.parse(pathlib.Path(root, path).read_bytes(), path)
            except SyntaxError as error:
                yield source_tree.Finding(path, error.lineno, f"Python: {error.msg}")


def check_javascript(root, paths):
    for path in paths:
        if path.endswith((".js", ".mjs", ".cjs")):
            for line in run(["node", "--check", path], root)[:5]:
                yield source_tree.Finding(path, 0, line)


def check_json(root, paths):
    for path in paths:
        if path.endswith(".json") and not path.startswith("tests/"):
            try:
                json.loads(pathlib.Path(root, path).read_bytes())
            except ValueError as error:
                yield source_tree.Finding(path, 0, f"JSON: {error}")


def check(root):
    paths = source_tree.files(root)
    for one in (check_cpp, check_shell, check_manual, check_python, check_javascript, check_json):
        yield from one(root, paths)


PLANTS = [
    ("clean", {"a.cpp": "int x;\n", "a.py": "x = 1\n", "a.json": "{}"}, ""),
    ("format", {"a.cpp": "int   x  ;\n"}, "clang-format"),
    ("shell", {"a.sh": "#!/bin/bash\nrm $1/*\n"}, "SC2086"),
    ("python", {"a.py": "def f(:\n"}, "Python:"),
    ("javascript", {"a.js": "function (\n"}, "SyntaxError"),
    ("json", {"a.json": "{,}"}, "JSON:"),
    ("manual", {"packaging/a.1": ".Dd $Mdocdate$\n.Sh X\n.Zz\n"}, "mandoc"),
]

if __name__ == "__main__":
    source_tree.main(check, PLANTS, __doc__)
