# SPDX-License-Identifier: Apache-2.0
"""Public headers: `#pragma once`, a documenting comment for every class, and words in full in the names of types."""

import re

import source_tree

CLASS = re.compile(r"^(?P<above>[^\n]*\n)(?:template <[^\n]*>\n)?(?P<head>class (?P<name>\w+)[^;{\n]*)\n?\{", re.M)
VAGUE = re.compile(r"\b(?:class|struct)\s+(\w*(?:Manager|Helper|Util|Utils))\b")


def check(root):
    for path in source_tree.files(root):
        if not source_tree.is_cpp(path):
            continue
        text = source_tree.text_of(root, path) or ""
        for match in VAGUE.finditer(source_tree.without_literals(text)):
            yield source_tree.Finding(path, source_tree.line_of(text, match.start()), f"{match[1]}: say what it does")
        if not path.endswith(".h"):
            continue
        if "#pragma once" not in text:
            yield source_tree.Finding(path, 1, "begins with #pragma once")
        if not path.startswith(("server/", "app/")):
            continue
        if "///" not in text:
            yield source_tree.Finding(path, 1, "a public header says purpose, units, limits and errors in /// comments")
        for match in CLASS.finditer(text):
            if not match["above"].lstrip().startswith("///"):
                line = source_tree.line_of(text, match.start("head"))
                yield source_tree.Finding(path, line, f"class {match['name']} has no /// comment above it")


PLANTS = [
    ("clean", {"server/a.h": "#pragma once\n/// Does.\nclass A\n{\n};\nclass B;\n"}, ""),
    ("no guard", {"server/a.h": "/// x\nint x;\n"}, "pragma once"),
    ("no words", {"server/a.h": "#pragma once\nint x;\n"}, "a public header says"),
    ("silent class", {"server/a.h": "#pragma once\n/// x\nint x;\n\nclass A final : public B\n{\n};\n"}, "class A has no"),
    ("vague name", {"server/a.cpp": "class BoxMana" + "ger\n{\n};\n"}, "say what it does"),
]

if __name__ == "__main__":
    source_tree.main(check, PLANTS, __doc__)
