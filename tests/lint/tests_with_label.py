# SPDX-License-Identifier: Apache-2.0
"""Reads `ctest --show-only=json-v1` and prints the names of the tests that carry a label: `tests_with_label.py unit`."""

import json
import sys


def labels(test):
    return next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])


def main():
    for test in json.load(sys.stdin)["tests"]:
        if sys.argv[1] in labels(test):
            print(test["name"])


if __name__ == "__main__":
    main()
