# SPDX-License-Identifier: Apache-2.0
"""Compares what ctest ran with what it should have run: check_tiers.py TESTS.json JUNIT.xml LABEL ...

Fails for a tier without a test, and for a test that was registered and not run. Lists every test function that skipped
itself, with its reason: nothing is skipped in silence."""

import json
import re
import sys
import xml.etree.ElementTree as xml

from tests_with_label import labels

SKIP = re.compile(r"^SKIP\s*:\s*(\S+)\s*(.*(?:\n(?!\w+\s*:)[^\n]*)?)", re.M)


def check(tests, cases, expected):
    """Problems (text) and skips (text) of one run."""
    ran = {c.get("name") for c in cases if c.get("status") in ("run", "fail")}
    problems = [f"{t['name']} is registered and did not run" for t in tests if t["name"] not in ran]
    for tier in expected:
        count = sum(1 for t in tests if tier in labels(t) and t["name"] in ran)
        print(f"{tier:12} {count} programs ran")
        if count == 0:
            problems.append(f"no test of the tier '{tier}' ran")
    skips = []
    for case in cases:
        output = case.findtext("system-out") or ""
        skips += [f"{m[1]} {' '.join(m[2].split())}" for m in SKIP.finditer(output)]
    return problems, skips


def self_test():
    tests = [{"name": n, "properties": [{"name": "LABELS", "value": [tier]}]} for n, tier in (("a", "unit"), ("b", "lint"))]
    cases = xml.fromstring(
        '<t><testcase name="a" status="run"><system-out>SKIP   : T::f() no data\n   Loc: [x]\nPASS   : T::g()</system-out></testcase>'
        '<testcase name="b" status="notrun"/></t>'
    )
    problems, skips = check(tests, list(cases), ["unit", "lint", "security"])
    assert len(problems) == 3, problems
    assert len(skips) == 1 and skips[0].startswith("T::f() no data"), skips
    assert check(tests[:1], list(cases)[:1], ["unit"])[0] == []
    print("0 finding(s)")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    cases = list(xml.parse(sys.argv[2]).getroot().iter("testcase"))
    problems, skips = check(tests, cases, sys.argv[3:])
    for skip in skips:
        print(f"skipped: {skip}")
    for problem in problems:
        print(f"problem: {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    self_test() if sys.argv[1:] == ["--self-test"] else main()
