#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns openapi.yaml into a C++ source that holds the document as JSON: embed_openapi.py YAML OUTPUT"""

import json
import sys

import yaml

PIECE = 12000  # compilers must take 65,536 characters in a literal only; pieces are joined by them


def main(source: str, target: str) -> None:
    with open(source, encoding="utf-8") as stream:
        document = yaml.safe_load(stream)
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    pieces = [text[i : i + PIECE] for i in range(0, len(text), PIECE)]
    literal = "\n".join(f'    R"openapi({piece})openapi"' for piece in pieces)
    with open(target, "w", encoding="utf-8") as out:
        out.write("// SPDX-License-Identifier: Apache-2.0\n")
        out.write('#include "server/contract/openapi.h"\n\nnamespace assay::contract {\n\n')
        out.write(f"std::string_view openApiJson()\n{{\n    return\n{literal};\n}}\n\n}} // namespace assay::contract\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
