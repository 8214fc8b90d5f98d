# SPDX-License-Identifier: Apache-2.0
"""Sizes: a .cpp has 500 lines at most, a .h 250, a .qml 300, a function 60. Names of files are snake_case."""

import pathlib
import re
import statistics

import source_tree

LINES = {".cpp": 500, ".h": 250, ".qml": 300}
FUNCTION_LINES = 60

SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()]*$")


def matching_brace(code, start):
    depth = 0
    for match in re.compile(r"[{}]").finditer(code, start):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return len(code)


def functions(code):
    """(first line, lines) of every function body; lambdas count as part of the function around them."""
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m[0]), source_tree.without_literals(code), flags=re.M)
    position = head = 0
    while True:
        found = re.compile(r"[{};]").search(code, position)
        if not found:
            return
        position = found.end()
        if found[0] != "{":
            head = position
            continue
        before = code[head : found.start()]
        if SCOPE.search(before) or not before.strip():
            head = position
            continue
        end = matching_brace(code, found.start())
        following = code[end + 1 : end + 200].lstrip()[:1]
        if "(" in before and following not in (",", "{"):
            first = source_tree.line_of(code, head + len(before) - len(before.lstrip()))
            yield first, source_tree.line_of(code, end) - first + 1
        # A brace initializer inside a constructor's list leaves the head open for the body that follows.
        position = end + 1
        if following not in (",", "{"):
            head = position


def check(root):
    for path in source_tree.files(root):
        limit = LINES.get(pathlib.PurePath(path).suffix)
        text = source_tree.text_of(root, path)
        if limit is None or text is None:
            continue
        count = len(text.splitlines())
        if count > limit:
            yield source_tree.Finding(path, count, f"{count} lines; {limit} at most: split it by responsibility")
        if not source_tree.is_cpp(path):
            continue
        if not re.fullmatch(r"[a-z0-9_]+\.(cpp|h)", pathlib.PurePath(path).name):
            yield source_tree.Finding(path, 1, "name files in snake_case")
        for line, length in functions(text):
            if length > FUNCTION_LINES:
                yield source_tree.Finding(path, line, f"a function of {length} lines; {FUNCTION_LINES} at most")


def summary(root):
    lengths = [
        length
        for path in source_tree.files(root)
        if source_tree.is_cpp(path) and path.startswith(("server/", "app/"))
        for _, length in functions(source_tree.text_of(root, path) or "")
    ]
    if lengths:
        ninetieth = sorted(lengths)[len(lengths) * 9 // 10]
        print(f"{len(lengths)} functions: median {statistics.median(lengths):g} lines, ninetieth percentile {ninetieth}")


def check_and_summarize(root):
    yield from check(root)
    summary(root)


BODY = "    call();\n" * 61
PLANTS = [
    ("clean", {"a.cpp": "namespace x {\nvoid f()\n{\n}\n}\n"}, ""),
    ("long file", {"a.cpp": "int x;\n" * 501}, "501 lines"),
    ("long header", {"a.h": "int x;\n" * 251}, "251 lines"),
    ("long function", {"a.cpp": "namespace x {\nvoid f()\n{\n" + BODY + "}\n}\n"}, "a function of 64 lines"),
    ("long method", {"a.cpp": "class C : public B\n{\npublic:\n    int f() const\n    {\n" + BODY + "    }\n};\n"}, "a function of"),
    ("long constructor", {"a.cpp": "C::C(int a) : m_a{a}, m_b{1}\n{\n" + BODY + "}\n"}, "a function of"),
    ("braces in text", {"a.cpp": 'void f()\n{\n    g("}");\n    // }\n' + BODY + "}\n"}, "a function of"),
    ("a table is not a function", {"a.cpp": "constexpr int kTable[] = {\n" + "    1,\n" * 70 + "};\n"}, ""),
    ("camel case file", {"FooBar.cpp": "int x;\n"}, "snake_case"),
]

if __name__ == "__main__":
    source_tree.main(check_and_summarize, PLANTS, __doc__)
