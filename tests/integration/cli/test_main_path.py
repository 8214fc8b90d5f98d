# SPDX-License-Identifier: Apache-2.0
"""The main job with the real server and real boxes: publish, pin, run, collect, by assayctl alone."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[3]
FIRST, SECOND = (str(ROOT / "resources/examples" / name) for name in ("ticket-analysis", "ticket-analysis-2"))
TICKETS = str(ROOT / "resources/examples/tickets.json")


class MainPath(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        data = cls.folder.name + "/data"
        roles = [word for role in ("viewer", "builder", "reviewer", "runner", "operator") for word in ("--role", role)]
        made = subprocess.run([BIN / "assayctl", "token", "create", "--data", data, "--scope", "team=test", *roles], capture_output=True, check=True)
        with open(cls.folder.name + "/log", "wb") as log:
            cls.server = subprocess.Popen([BIN / "assayd", "--data", data, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=log)
        url = json.loads(cls.server.stdout.readline())["listening"][0]
        cls.environment = {"PATH": os.environ["PATH"], "ASSAY_URL": url, "ASSAY_TOKEN": made.stdout.decode().strip(), "ASSAY_DATA": data}

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait(30)
        cls.server.stdout.close()
        cls.folder.cleanup()

    def ctl(self, *arguments, expect=0, stdin=b""):
        done = subprocess.run(
            [BIN / "assayctl", *arguments], input=stdin, capture_output=True, timeout=120, check=False, env=self.environment, cwd=self.folder.name
        )
        self.assertEqual(done.returncode, expect, (arguments, done.stdout, done.stderr))
        return done

    def json(self, *arguments, **options):
        return json.loads(self.ctl(*arguments, "--json", **options).stdout)

    def test_1_health_is_proven_by_a_box(self):
        health = self.json("health", "--handshake")
        self.assertTrue(health["drivers"][0]["last_handshake"]["passed"], health)

    def test_2_the_digest_is_the_same_everywhere(self):
        digest = self.json("digest", FIRST)["digest"]
        published = self.json("skill", "publish", FIRST)
        self.assertEqual((published["digest"], published["number"]), (digest, 1))
        self.assertFalse(self.json("skill", "publish", FIRST)["revision_created"])
        for form in ("tar.gz", "zip"):
            self.assertEqual(self.json("skill", "export", "ticket-analysis", "--format", form)["digest"], digest)
            self.assertEqual(self.json("digest", f"ticket-analysis.{form}")["digest"], digest)

    def test_3_a_run_reads_tickets_and_leaves_a_report(self):
        done = self.ctl("run", "ticket-analysis", "scripts/analyze.py", "--input", TICKETS)
        self.assertEqual(json.loads(done.stdout)["open"], 17)
        run = self.json("runs", "list")["items"][0]
        self.assertEqual(run["state"], "succeeded")
        shown = self.json("runs", "show", run["id"])
        self.assertEqual(shown["output_check"]["state"], "pass")
        report = next(a for a in shown["artifacts"] if a["path"] == "report.html")
        page = self.ctl("artifact", "get", report["id"], "-o", "-").stdout
        self.assertEqual(len(page), report["size_bytes"])
        self.assertIn(b"17 open of 20 tickets", page)
        manifest = json.loads(self.ctl("runs", "manifest", run["id"]).stdout)
        self.assertEqual(manifest["skills"][0]["digest"], self.json("digest", FIRST)["digest"])

    def test_4_input_that_does_not_fit_is_told_by_member(self):
        done = self.ctl("run", "ticket-analysis", "scripts/analyze.py", "--input", "-", stdin=b'[{"id": 7}]', expect=2)
        self.assertIn(b"/command/input/0", done.stderr)
        self.ctl("run", "ticket-analysis", "scripts/none.py", expect=2)
        self.ctl("run", "nothing", "scripts/none.py", expect=4)
        self.ctl("run", "ticket-analysis", "scripts/triage", "--driver", "none-such", "--input", TICKETS, expect=4)

    def test_5_a_session_takes_commands_until_it_is_finished(self):
        run = self.json("run", "ticket-analysis", "--session")["id"]
        done = self.ctl("exec", run, "--", "bash", "-c", "printf 'a\\0b\\377'; echo oops >&2; exit 7", expect=7)
        self.assertEqual((done.stdout, done.stderr), (b"a\0b\xff", b"oops\n"))
        slow = self.ctl("exec", run, "--shell", "echo one; sleep 1; echo two; echo kept > /workspace/out/f.txt")
        self.assertEqual(slow.stdout, b"one\ntwo\n")
        self.assertIn(b"timeout", self.ctl("exec", run, "--timeout", "1", "--", "sleep", "30", expect=1).stderr)
        self.assertIn(b"could not be started", self.ctl("exec", run, "--", "no-such-program", expect=1).stderr)
        self.ctl("exec", run, "--", "touch", "/skills/ticket-analysis/x", expect=1)
        ended = self.json("finish", run)
        self.assertEqual([a["path"] for a in ended["artifacts"]], ["f.txt"])
        self.ctl("artifact", "get", ended["artifacts"][0]["id"])
        self.assertEqual(pathlib.Path(self.folder.name, "f.txt").read_text(), "kept\n")

    def test_6_a_new_version_is_promoted_and_rolled_back(self):
        second = self.json("skill", "publish", SECOND)
        self.assertEqual(second["number"], 2)
        self.ctl("run", "ticket-analysis", "scripts/overdue.py", "--input", TICKETS)
        history = self.json("skill", "history", "ticket-analysis")["items"]
        back = self.json("skill", "promote", "ticket-analysis", history[1]["id"])
        self.assertEqual(back["number"], 1)
        self.ctl("skill", "withdraw", "ticket-analysis", history[1]["id"], "--reason", "a test")
        self.assertIn(b"revision_withdrawn", self.ctl("run", "ticket-analysis", "scripts/triage", expect=4).stderr)
        self.ctl("skill", "promote", "ticket-analysis", history[0]["id"])

    def test_6b_two_versions_are_compared(self):
        history = self.json("skill", "history", "ticket-analysis")["items"]
        newer, older = history[0]["id"], history[-1]["id"]
        diff = self.json("skill", "diff", "ticket-analysis", older, newer)
        self.assertEqual((diff["from"]["revision"], diff["to"]["revision"]), (older, newer))
        self.assertGreater(diff["counts"]["additions"], 0)
        self.assertEqual(len(diff["files"]), diff["counts"]["files"])
        can = self.json("skill", "capabilities", "ticket-analysis", newer)
        self.assertIn(("executable", "python3"), {(item["kind"], item["value"]) for item in can["items"]})
        self.assertIn("boundary", self.ctl("skill", "capabilities", "ticket-analysis").stdout.decode())
        self.assertEqual(diff["capabilities"]["added"] + diff["capabilities"]["changed"] + diff["capabilities"]["unchanged"], len(can["items"]))
        text = self.ctl("skill", "diff", "ticket-analysis", older, newer).stdout.decode()
        self.assertIn("+++ b/SKILL.md", text)
        self.assertNotIn("\x1b", text)
        self.assertIn("\x1b[3", self.ctl("skill", "diff", "ticket-analysis", older, newer, "--color", "always").stdout.decode())
        self.assertIn("no difference", self.ctl("skill", "diff", "ticket-analysis", newer, newer).stdout.decode())
        whole = self.json("skill", "diff", "ticket-analysis", "none", older)
        self.assertIsNone(whole["from"])
        self.assertEqual({file["status"] for file in whole["files"]}, {"added"})
        one = self.json("skill", "diff", "ticket-analysis", older, newer, "--path", "SKILL.md", "-U", "0", "-w")
        self.assertEqual([file["path"] for file in one["files"]], ["SKILL.md"])
        self.ctl("skill", "diff", "ticket-analysis", older, newer, "--path", "nothing", expect=1)

    def test_6c_a_skill_that_requires_execution_warns_where_it_is_off(self):
        self.assertTrue(self.json("skill", "show", "ticket-analysis")["skill"]["requires_execution"])
        agent = self.json("agent", "create", "reader", "--skill", "ticket-analysis", "--execution", "off")
        self.assertEqual([warning["code"] for warning in agent["warnings"]], ["execution_off"])
        shown = self.ctl("agent", "show", "reader").stdout.decode()
        self.assertIn("requires execution", shown)
        self.ctl("agent", "delete", "reader")

    def test_7_agents_carry_skills(self):
        self.ctl("agent", "create", "helper", "--skill", "ticket-analysis")
        self.ctl("agent", "create", "helper", "--skill", "ticket-analysis", expect=1)
        self.ctl("agent", "create", "other", "--skill", "none-such", expect=2)
        self.ctl("run", "--agent", "helper", "ticket-analysis", "scripts/duplicates.js", "--input", TICKETS)
        self.assertEqual(self.json("runs", "list", "--agent", "helper")["items"][0]["agent"], "helper")
        self.ctl("agent", "delete", "helper")

    def test_8_a_long_run_is_cancelled(self):
        run = self.json("run", "ticket-analysis", "--session")["id"]
        with subprocess.Popen([BIN / "assayctl", "exec", run, "--", "sleep", "60"], env=self.environment, stderr=subprocess.PIPE) as process:
            time.sleep(1)
            self.ctl("runs", "cancel", run)
            self.assertEqual(process.wait(20), 1)
        self.assertEqual(self.json("runs", "show", run)["state"], "cancelled")

    def test_9_the_server_is_administered_while_it_serves(self):
        self.ctl("backup", "copy.db")
        beside = self.json("token", "create", "--data", self.environment["ASSAY_DATA"], "--scope", "a=b", "--role", "viewer")
        made = self.json("token", "create", "--scope", "a=b", "--role", "viewer")
        self.assertEqual(beside["scope_fingerprint"], made["scope_fingerprint"])
        self.environment["ASSAY_TOKEN"], own = made["secret"], self.environment["ASSAY_TOKEN"]
        self.assertEqual(self.json("skill", "list")["items"], [])
        self.ctl("skill", "delete", "ticket-analysis", expect=4)
        self.environment["ASSAY_TOKEN"] = own
        self.ctl("token", "revoke", made["id"])
        self.environment["ASSAY_TOKEN"] = made["secret"]
        self.ctl("skill", "list", expect=4)
        self.environment["ASSAY_TOKEN"] = own
        self.ctl("skill", "delete", "ticket-analysis")

    def test_9a_everything_stands_in_the_ledger(self):
        rows = self.json("audit", "list", "--limit", "1000")["items"]
        done = {(row["operation"], row["decision"]) for row in rows}
        for expected in ("skill.publish", "skill.delete", "revision.promote", "revision.withdraw", "agent.create", "agent.delete", "run.start", "run.cancel"):
            self.assertIn((expected, "allowed"), done)
        self.assertLessEqual({("run.start", "refused"), ("command.execute", "executed"), ("command.execute", "terminated")}, done)
        self.assertEqual({row["metadata"]["surface"] for row in rows if row["actor_type"] != "server"}, {"cli"})
        refused = self.json("audit", "list", "--operation", "command.execute", "--decision", "refused")["items"]
        self.assertEqual({row["metadata"]["reason"] for row in refused}, {"not_started"})
        self.assertIn(b"anchors: valid", self.ctl("audit", "verify").stdout)
        server = {row["operation"] for row in self.json("audit", "list", "--ledger", "server")["items"]}
        self.assertLessEqual({"token.create", "token.revoke", "handshake"}, server)
        verdict = self.json("audit", "verify", "--ledger", "server")
        self.assertTrue(verdict["valid"])
        self.assertGreater(verdict["checked"], len(rows))

        self.ctl("audit", "export", "-o", "audit.jsonl")
        self.ctl("audit", "export", "-o", "audit.jsonl", expect=1)
        judged = self.json("audit", "verify", "audit.jsonl", "--key", verdict["public_key"], "--partial")
        self.assertTrue(judged["valid"])
        self.assertGreaterEqual(judged["checked"], len(rows))
        self.assertEqual((True, judged["checked"]), (judged["complete"], judged["last_seq"]))
        path = pathlib.Path(self.folder.name, "audit.jsonl")
        text = path.read_text()
        for never in ("team", "no-such-program", "oops", "a test", self.environment["ASSAY_TOKEN"]):
            self.assertNotIn(never, text)
        # Whether the first anchor was due by now is a matter of time; with the key it decides.
        self.ctl("audit", "verify", "audit.jsonl", "--key", verdict["public_key"], expect=0 if judged["anchored_seq"] else 1)
        unsigned = "".join(line + "\n" for line in text.splitlines() if not line.startswith('{"anchor"'))
        for forged in (unsigned, text.replace('"complete":true', '"complete":false', 1)):
            path.write_text(forged)
            self.ctl("audit", "verify", "audit.jsonl", "--key", verdict["public_key"], expect=1)
            self.ctl("audit", "verify", "audit.jsonl", "--key", verdict["public_key"], "--partial")
        path.write_text(text.replace("\n", "\n\n", 1))
        self.ctl("audit", "verify", "audit.jsonl", expect=2)
        path.write_text(text.replace('"terminated"', '"executed"', 1))
        self.assertFalse(self.json("audit", "verify", "audit.jsonl", expect=1)["valid"])
        path.write_text("not an export")
        self.ctl("audit", "verify", "audit.jsonl", expect=2)


if __name__ == "__main__":
    unittest.main()
