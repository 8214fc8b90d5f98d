# SPDX-License-Identifier: Apache-2.0
"""What the example skill's SKILL.md says, by running its scripts on the example's tickets, without a server or a box."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "resources" / "examples"
TICKETS = (EXAMPLES / "tickets.json").read_bytes()
VERSIONS = ("ticket-analysis", "ticket-analysis-2")


def run(version, script, tickets=TICKETS, interpreter=(sys.executable, "-I")):
    path = EXAMPLES / version / "scripts" / script
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run(
            [*interpreter, str(path)], input=tickets, capture_output=True, timeout=60, check=False, env=os.environ | {"TICKETS_OUT": out}
        )
        files = {p.name: p.read_text(encoding="utf-8") for p in pathlib.Path(out).iterdir()}
    return done, files


class ExampleSkill(unittest.TestCase):
    def test_input_and_summary_keep_their_schemas(self):
        for version in VERSIONS:
            schemas = EXAMPLES / version / "schemas"
            jsonschema.validate(json.loads(TICKETS), json.loads((EXAMPLES / version / "assets/input-schema.json").read_text()))
            done, _ = run(version, "analyze.py")
            self.assertEqual(done.returncode, 0, done.stderr)
            jsonschema.validate(json.loads(done.stdout), json.loads((schemas / "analyze.output.json").read_text()))

    def test_the_same_tickets_give_the_same_answer(self):
        (one, files), (other, same_files) = (run("ticket-analysis", "analyze.py") for _ in range(2))
        self.assertEqual((one.stdout, files), (other.stdout, same_files))

    def test_urgent_tickets_come_first(self):
        summary = json.loads(run("ticket-analysis", "analyze.py")[0].stdout)
        self.assertEqual([t["id"] for t in summary["queue"][:4]], ["T-1005", "T-1009", "T-1015", "T-1001"])
        self.assertEqual(summary["queue"][1]["topic"], "security")
        self.assertEqual(summary["priorities"], {"P1": 4, "P2": 3, "P3": 6, "P4": 4})

    def test_a_spreadsheet_computes_nothing_and_a_browser_runs_nothing(self):
        _, files = run("ticket-analysis", "analyze.py")
        rows = list(csv.DictReader(files["tickets.csv"].splitlines()))
        self.assertEqual(len(rows), 20)
        for row in rows:
            for cell in row.values():
                self.assertNotIn(cell[:1], ("=", "+", "@"))
        self.assertNotIn("<b>", files["report.html"])
        self.assertNotIn("<script", files["report.html"])
        self.assertIn("data:image/png;base64,", files["report.html"])

    def test_duplicates_are_found(self):
        done, files = run("ticket-analysis", "duplicates.js", interpreter=("node",))
        groups = [g["tickets"] for g in json.loads(done.stdout)["groups"]]
        self.assertEqual(groups, [["T-1001", "T-1002"], ["T-1007", "T-1018"]])
        self.assertEqual(files["duplicates.json"].encode(), done.stdout)

    def test_executables_run_by_themselves(self):
        done, _ = run("ticket-analysis", "triage", interpreter=())
        self.assertEqual(done.stdout.decode().splitlines()[0], "P1  99  T-1005   Records disappeared after the import")
        self.assertFalse(os.access(EXAMPLES / "ticket-analysis/scripts/overdue.py", os.X_OK))
        done, _ = run("ticket-analysis-2", "overdue.py", interpreter=())
        self.assertTrue(json.loads(done.stdout)["overdue"])

    def test_incidents_say_that_the_status_page_is_out_of_reach(self):
        done, _ = run("ticket-analysis-2", "incidents.py")
        self.assertEqual(json.loads(done.stdout)["explained"], [])
        self.assertTrue(json.loads(done.stdout)["note"])

    def test_other_input_is_a_clear_error(self):
        for tickets in (b"{}}", b'{"x": 1}', b"[1]", b'[{"id": "a"}]'):
            done, files = run("ticket-analysis", "analyze.py", tickets)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(b"assets/input-schema.json", done.stderr)
            self.assertEqual(files, {})


if __name__ == "__main__":
    unittest.main()
