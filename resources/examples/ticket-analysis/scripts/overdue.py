#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the open tickets whose time for a first answer has passed, as JSON. Reads what analyze.py reads."""

import datetime
import importlib.util
import json
import pathlib
import sys


def analysis():
    """analyze.py as a module: Python's isolated mode puts no folder of the skill on the search path."""
    place = pathlib.Path(__file__).resolve().parent / "analyze.py"
    spec = importlib.util.spec_from_file_location("analyze", place)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def main():
    analyze = analysis()
    rules = json.loads((analyze.SKILL / "references" / "rules.json").read_text(encoding="utf-8"))
    rows, now = analyze.judge(json.load(sys.stdin), rules)
    hours = {p["name"]: p["first_answer_hours"] for p in rules["priorities"]}
    late = []
    for row in rows:
        due = analyze.moment(row["created_at"]) + datetime.timedelta(hours=hours[row["priority"]])
        if row["status"] == "open" and due < now:
            late.append({"id": row["id"], "priority": row["priority"], "hours_late": int((now - due).total_seconds() // 3600)})
    json.dump({"as_of": str(now), "overdue": late}, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
