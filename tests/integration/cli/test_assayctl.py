# SPDX-License-Identifier: Apache-2.0
"""assayctl against a server that answers as each test wants: exit statuses, streams, messages, and what it sends."""

import base64
import hashlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from fake_server import Exchange, FakeServer, Reply, event, problem

ASSAYCTL = sys.argv.pop(1)
TOKEN = "assay_test-token"
ROOT = pathlib.Path(__file__).resolve().parents[3]


def ctl(*arguments, url="http://127.0.0.1:9", stdin=b"", **environment):
    return subprocess.run(
        [ASSAYCTL, *arguments],
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
        env={"PATH": os.environ["PATH"], "ASSAY_URL": url, "ASSAY_TOKEN": TOKEN} | environment,
    )


def output(command, stream, seq, data):
    return {"command": command, "stream": stream, "seq": seq, "t_ms": seq, "data_base64": base64.b64encode(data).decode()}


class RunServer:
    """Answers what `assayctl run` asks: one run with one command that wrote `chunks` and ended as `command` says."""

    def __init__(self, chunks=(), command=None, state="succeeded", cut_after=None):
        self.run = {"id": "run_1", "state": state, "commands": [command or {"id": "cmd_1", "exit_code": 0, "termination": "exited"}]}
        kinds = [("phase", {"name": "running"})] + [("output", output("cmd_1", s, i, d)) for i, (s, d) in enumerate(chunks)]
        kinds += [("command", {"command": "cmd_1", "state": "ended"}), ("end", {"state": state})]
        self.events = [event(i + 1, *kind) for i, kind in enumerate(kinds)]
        self.cut_after = cut_after

    def __call__(self, asked: Exchange):
        if asked.method == "POST" and asked.target == "/v1/runs":
            return Reply(201, {"id": "run_1", "state": "queued"})
        if asked.target == "/v1/runs/run_1/events":
            last = int(asked.headers.get("Last-Event-ID", 0))
            stream = {"Content-Type": "text/event-stream"}
            if self.cut_after is not None and last == 0:
                return Reply(200, b"".join(self.events[: self.cut_after]) + self.events[self.cut_after][:20], stream, cut=True)
            return Reply(200, b": heartbeat\n\n" + b"".join(self.events[last:]), stream)
        if asked.target == "/v1/runs/run_1":
            return Reply(200, self.run)
        return problem(404, "not_found", "there is no such object")


class Diff(unittest.TestCase):
    def test_a_hostile_diff_is_harmless_on_a_terminal(self):
        hostile = "\x1b]0;owned\x07\u202eevil\ttab\u200b"
        line = {"kind": "added", "old": None, "new": 1, "text": hostile, "eol": "crlf", "intraline": [{"start": 1, "length": 3, "start_utf16": 1, "length_utf16": 3}]}
        hunk = {"old_start": 0, "old_lines": 0, "new_start": 1, "new_lines": 1, "section": hostile, "lines": [line]}
        side = {"sha256": "sha256:00", "size_bytes": 3, "executable": True, "kind": "text", "media_type": "text/plain", "lines": 1}
        file = {"status": "added", "path": "a\nb\x1b[2J", "old_path": None, "similarity": None, "old": None, "new": side, "content": "text", "hunks": [hunk]}
        items = [{"kind": "network", "value": hostile, "rule": "net.url", "path": hostile, "line": 3, "places": 1, "change": "added"}]
        capabilities = {"notice": "no boundary", "added": 1, "changed": 0, "removed": 0, "unchanged": 4, "left_out": 7, "items": items}
        answer = {"capabilities": capabilities, "counts": {"files": 1, "complete": True}, "files": [file, file | {"content": "omitted", "hunks": []}]}
        with FakeServer(lambda asked: Reply(200, answer)) as server:
            for colour in ("never", "always"):
                done = ctl("skill", "diff", "demo", "none", "--color", colour, url=server.url)
                self.assertEqual(done.returncode, 0, done.stderr)
                text = done.stdout.decode()
                for bad in ("\x1b]", "\x07", "\u202e", "\u200b", "\x1b[2J"):
                    self.assertNotIn(bad, text)
                self.assertIn("\\u{202E}", text)
                self.assertIn("\ttab", text)
                self.assertIn("--path", text)
                self.assertIn("+ network", text)
                self.assertIn("7 more", text)
                self.assertIn("no boundary", text)
                self.assertEqual("\x1b[7m" in text, colour == "always")
        self.assertIn("/v1/skills/demo/diff?from=none&to=current", server.exchanges[0].target)


class Running(unittest.TestCase):
    def test_passes_output_on_byte_for_byte(self):
        raw = bytes(range(256)) * 3
        with FakeServer(RunServer([("stdout", raw), ("stderr", b"\xff\x00warn"), ("stdout", "ü".encode()[:1]), ("stdout", "ü".encode()[1:])])) as server:
            done = ctl("run", "demo", "scripts/a.py", "--quiet", url=server.url)
        self.assertEqual(done.stdout, raw + "ü".encode())
        self.assertEqual(done.stderr, b"\xff\x00warn")
        self.assertEqual(done.returncode, 0)

    def test_exits_like_the_script(self):
        for code in (0, 1, 3, 77, 255):
            state = "succeeded" if code == 0 else "failed"
            with FakeServer(RunServer(command={"id": "cmd_1", "exit_code": code, "termination": "exited"}, state=state)) as server:
                self.assertEqual(ctl("run", "demo", "a.py", url=server.url).returncode, code)

    def test_says_how_a_command_was_cut_off(self):
        for termination in ("timeout", "memory_exceeded", "signalled", "output_cap_exceeded", "box_lost"):
            command = {"id": "cmd_1", "signal": 9, "termination": termination, "dropped_bytes": 2048}
            with FakeServer(RunServer(command=command, state="failed")) as server:
                done = ctl("run", "demo", "a.py", url=server.url)
            self.assertEqual(done.returncode, 1)
            self.assertIn(termination.encode(), done.stderr)
            self.assertIn(b"2.0 KiB of output", done.stderr)

    def test_takes_a_broken_stream_up_again_without_loss_or_repeat(self):
        chunks = [("stdout", f"line {i}\n".encode()) for i in range(20)]
        with FakeServer(RunServer(chunks, cut_after=9)) as server:
            done = ctl("run", "demo", "a.py", "--quiet", url=server.url)
        self.assertEqual(done.stdout, b"".join(c for _, c in chunks))
        resumed = [e.headers["Last-Event-ID"] for e in server.exchanges if "Last-Event-ID" in e.headers]
        self.assertEqual(resumed, ["9"])

    def test_sends_what_was_asked_for(self):
        with FakeServer(RunServer()) as server, tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"a": [1, 2.5, "ü"]}')
            file.flush()
            ctl("run", "demo", "a.py", "--input", file.name, "--output", "*.csv", "--output", "r/**", "--driver", "docker",
                "--timeout", "7", "--memory", "64MB", "--env", "A=b=c", "--", "-x", "y", url=server.url)
        asked = server.exchanges[0]
        self.assertEqual(asked.headers["Authorization"], f"Bearer {TOKEN}")
        self.assertRegex(asked.headers["Idempotency-Key"], r"^[0-9a-f]{32}$")
        self.assertEqual(
            asked.json(),
            {
                "skills": ["demo"],
                "command": {"skill": "demo", "script": "a.py", "args": ["-x", "y"], "input": {"a": [1, 2.5, "ü"]}, "env": {"A": "b=c"}},
                "outputs": ["*.csv", "r/**"],
                "driver": "docker",
                "limits": {"wall_ms": 7000, "memory_bytes": 64 << 20},
            },
        )

    def test_reads_input_from_its_own(self):
        with FakeServer(RunServer()) as server:
            ctl("run", "demo", "a.py", "--input", "-", url=server.url, stdin=b"[1]")
            ctl("run", "demo", "a.py", "--stdin", "-", url=server.url, stdin=b"not json")
        bodies = [e.json()["command"] for e in server.exchanges if e.method == "POST"]
        self.assertEqual([b.get("input", b.get("stdin")) for b in bodies], [[1], "not json"])

    def test_refuses_input_that_is_not_json(self):
        with FakeServer(RunServer()) as server:
            done = ctl("run", "demo", "a.py", "--input", "-", url=server.url, stdin=b'{"a": 1,}')
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"not JSON", done.stderr)
        self.assertEqual(server.exchanges, [])

    def test_prints_the_run_as_json(self):
        with FakeServer(RunServer([("stdout", b"noise")], command={"id": "cmd_1", "exit_code": 4, "termination": "exited"}, state="failed")) as server:
            done = ctl("run", "demo", "a.py", "--json", url=server.url)
        self.assertEqual(json.loads(done.stdout)["id"], "run_1")
        self.assertEqual(done.returncode, 4)

    def test_cancels_the_run_when_interrupted(self):
        release = threading.Event()
        base = RunServer()

        def respond(asked):
            if asked.target.endswith("/events"):
                release.wait(20)
            return Reply(200, base.run) if asked.target.endswith("/cancel") else base(asked)

        with FakeServer(respond) as server:
            env = {"PATH": os.environ["PATH"], "ASSAY_URL": server.url, "ASSAY_TOKEN": TOKEN}
            with subprocess.Popen([ASSAYCTL, "run", "demo", "a.py"], env=env, stderr=subprocess.PIPE) as process:
                for _ in range(200):
                    if any(e.target.endswith("/events") for e in server.exchanges):
                        break
                    time.sleep(0.05)
                process.send_signal(signal.SIGINT)
                _, stderr = process.communicate(timeout=20)
            release.set()
        self.assertTrue(any(e.target == "/v1/runs/run_1/cancel" for e in server.exchanges))
        self.assertIn(b"is cancelled", stderr)
        self.assertEqual(process.returncode, 1)

    def test_executes_in_a_session(self):
        quick = {"id": "cmd_2", "state": "ended", "exit_code": 5, "termination": "exited", "stdout": "out", "stderr_base64": base64.b64encode(b"\xff").decode()}

        def respond(asked):
            if asked.target == "/v1/runs/run_1/commands":
                return Reply(201, quick)
            return Reply(201, {"id": "run_1", "state": "queued"})

        with FakeServer(respond) as server:
            started = ctl("run", "--agent", "helper", "--session", "--json", url=server.url)
            done = ctl("exec", "run_1", "--", "ls", "-l", "--all", url=server.url)
        self.assertEqual(json.loads(started.stdout)["id"], "run_1")
        self.assertEqual(server.exchanges[0].json(), {"agent": "helper", "session": True})
        self.assertEqual(server.exchanges[1].json()["argv"], ["ls", "-l", "--all"])
        self.assertEqual((done.stdout, done.stderr, done.returncode), (b"out", b"\xff", 5))

    def test_follows_only_its_own_command_in_a_session(self):
        events = [event(1, "output", output("cmd_1", "stdout", 0, b"old")), event(2, "output", output("cmd_2", "stdout", 0, b"mine")),
                  event(3, "command", {"command": "cmd_2", "state": "ended"}), event(4, "output", output("cmd_3", "stdout", 0, b"later"))]

        def respond(asked):
            if asked.target.endswith("/commands"):
                return Reply(201, {"id": "cmd_2", "state": "running"})
            if asked.target.endswith("/events"):
                return Reply(200, b"".join(events), {"Content-Type": "text/event-stream"})
            return Reply(200, {"id": "cmd_2", "state": "ended", "exit_code": 9, "termination": "exited"})

        with FakeServer(respond) as server:
            done = ctl("exec", "run_1", "--shell", "echo mine", url=server.url)
        self.assertEqual((done.stdout, done.returncode), (b"mine", 9))


class Reviewing(unittest.TestCase):
    PROPOSAL = {"id": "prop_1", "skill": "demo", "number": 2, "state": "open", "digest": "sha256:a", "publisher": "pat",
                "checks": [{"id": "lints", "state": "warn", "summary": "1 lint", "required": True}],
                "blockers": [{"code": "approvals_missing", "message": "0 of 1 approvals"}]}

    def test_shows_a_proposal_with_what_blocks_it_and_its_comments(self):
        comment = {"id": "cmt_1", "author": "ann", "path": "SKILL.md", "line": 3, "side": "old", "text": "Why\u202e?"}

        def respond(asked):
            return Reply(200, {"items": [comment]} if "comments" in asked.target else self.PROPOSAL, {"ETag": '"7"'})

        with FakeServer(respond) as server:
            done = ctl("proposal", "show", "prop_1", url=server.url)
        self.assertEqual(done.returncode, 0)
        for text in (b"0 of 1 approvals", b"lints (required): warn", b"SKILL.md:3 (old side)", b"Why\\u{202E}?", b'"7"'):
            self.assertIn(text, done.stdout)

    def test_sends_verdicts_with_the_comment_the_digest_and_the_tag(self):
        with FakeServer(lambda asked: Reply(201, {"id": "rvw_1", "proposal": self.PROPOSAL})) as server:
            done = ctl("proposal", "approve", "prop_1", "--comment", "Good.", "--digest", "sha256:a", "--if-match", '"7"', url=server.url)
            ctl("proposal", "request-changes", "prop_1", url=server.url)
        self.assertIn(b"revision 2 of demo, open", done.stdout)
        asked = server.exchanges
        self.assertEqual((asked[0].method, asked[0].target), ("POST", "/v1/proposals/prop_1/reviews"))
        self.assertEqual(asked[0].json(), {"verdict": "approve", "digest": "sha256:a", "comments": [{"text": "Good."}]})
        self.assertEqual(asked[0].headers["If-Match"], '"7"')
        self.assertEqual(asked[1].json(), {"verdict": "request_changes"})

    def test_an_acknowledgement_names_the_base_that_was_told(self):
        for base, option, expected in (({"digest": "sha256:b"}, (), "sha256:b"), (None, (), None), ({"digest": "sha256:c"}, ("--base", "sha256:b"), "sha256:b")):
            with FakeServer(lambda asked, base=base: Reply(200, {**self.PROPOSAL, "base": base})) as server:
                done = ctl("proposal", "acknowledge", "prop_1", "sha256:a", *option, url=server.url)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(server.exchanges[-1].target, "/v1/proposals/prop_1/acknowledge")
            self.assertEqual(server.exchanges[-1].json(), {"digest": "sha256:a", "base_digest": expected})

    def test_a_refused_promotion_says_which_rule_and_exits_4_or_1(self):
        for status, code, expected in ((403, "permission_denied", 4), (409, "conflict", 1)):
            answer = problem(status, code, "the publisher cannot", reason="self_promotion", errors=[])
            with FakeServer(lambda asked, answer=answer: answer) as server:
                done = ctl("proposal", "promote", "prop_1", url=server.url)
            self.assertEqual(done.returncode, expected)
            self.assertIn(b"the publisher cannot", done.stderr)

    def test_stops_and_promotes_with_a_reason(self):
        with FakeServer(lambda asked: Reply(200, {"number": 2, "stopped_runs": 3, "name": "demo"}, {"ETag": '"7"'})) as server:
            done = ctl("skill", "stop", "demo", "rev_1", "--reason", "burns", url=server.url)
            ctl("skill", "promote", "demo", "rev_1", "--reason", "slow", url=server.url)
        self.assertIn(b"3 runs were cancelled", done.stdout)
        self.assertEqual(server.exchanges[0].json(), {"reason": "burns", "stop_runs": True})
        self.assertEqual(server.exchanges[-1].json(), {"reason": "slow"})
        self.assertEqual(server.exchanges[-1].headers["If-Match"], '"7"')

    def test_a_comparison_is_awaited_and_exits_1_when_they_differ(self):
        looks = []

        def respond(asked):
            if asked.method == "POST":
                return Reply(201, {"id": "cmp_1", "state": "running"})
            looks.append(asked.target)
            state = "ended" if len(looks) > 1 else "running"
            difference = {"pointer": "/n", "change": "changed", "from": 1, "to": 2}
            return Reply(200, {"id": "cmp_1", "state": state, "equal": False, "stdout": {"equal": False, "differences": [difference]},
                               "artifacts": [{"path": "a.txt", "status": "only_to"}]})

        with FakeServer(respond) as server:
            done = ctl("skill", "compare", "demo", "rev_1", "rev_2", "--sample", "small", url=server.url)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(server.exchanges[0].json(), {"from": "rev_1", "to": "rev_2", "sample": "small"})
        self.assertEqual(looks, ["/v1/skills/demo/comparisons/cmp_1"] * 2)
        self.assertIn(b"/n: 1 -> 2", done.stdout)
        self.assertIn(b"a.txt: only_to", done.stdout)

    def test_saves_a_sample_with_what_it_must_give(self):
        with FakeServer(lambda asked: Reply(201, {"name": "small"})) as server:
            done = ctl("sample", "save", "demo", "small", "--script", "a.py", "--arg", "x", "--input", "-", "--expect-exit", "3", url=server.url, stdin=b"[1]")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(server.exchanges[0].method, "PUT")
        self.assertEqual(server.exchanges[0].json(), {"script": "a.py", "args": ["x"], "input": [1], "expect": {"exit_code": 3}})

    def test_tells_what_was_current(self):
        move = {"at": "2026-11-30T12:00:00.000Z", "by": "ann", "via": "rollback", "from": {"number": 2}, "to": {"number": 1, "revision": "rev_1"}, "reason": "slow"}
        with FakeServer(lambda asked: Reply(200, {"items": [move]})) as server:
            done = ctl("skill", "history", "demo", "--at", "2026-11-30T13:00:00Z", url=server.url)
        self.assertIn("at=2026-11-30T13", server.exchanges[0].target)
        for text in (b"rollback", b"rev_1", b"slow"):
            self.assertIn(text, done.stdout)

    def test_sets_a_scope(self):
        with FakeServer(lambda asked: Reply(200, {"fingerprint": "sc_1", "promotion_mode": "reviewed", "required_checks": ["lints"], "required_approvals": 2})) as server:
            done = ctl("scope", "set", "sc_1", "--promotion", "reviewed", "--require", "lints", "--approvals", "2", url=server.url)
        self.assertEqual(server.exchanges[0].json(), {"promotion_mode": "reviewed", "required_checks": ["lints"], "required_approvals": 2})
        self.assertIn(b"reviewed", done.stdout)


class Statuses(unittest.TestCase):
    def test_follow_the_kind_of_failure(self):
        for status, code, expected in (
            (400, "invalid_argument", 2), (401, "unauthenticated", 4), (403, "permission_denied", 4), (404, "not_found", 1),
            (409, "conflict", 1), (412, "precondition_failed", 1), (422, "invalid_package", 5), (422, "refused", 4),
            (429, "rate_limited", 1), (500, "internal", 1), (503, "unavailable", 3), (504, "timeout", 1),
        ):
            with FakeServer(lambda _, s=status, c=code: problem(s, c, "because of a test")) as server:
                done = ctl("skill", "list", url=server.url)
            self.assertEqual(done.returncode, expected, code)
            self.assertIn(b"because of a test", done.stderr)
            self.assertEqual(done.stdout, b"")

    def test_unreachable_is_three_and_says_where(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        for url in (f"http://127.0.0.1:{port}", "unix:/nonexistent/socket"):
            done = ctl("skill", "list", url=url)
            self.assertEqual(done.returncode, 3)
            self.assertIn(url.encode(), done.stderr)

    def test_usage_is_two(self):
        for arguments in ((), ("nonsense",), ("skill",), ("skill", "show"), ("run",), ("run", "demo"), ("exec", "run_1"),
                          ("skill", "list", "--limit", "-1"), ("skill", "list", "--state", "odd"), ("agent", "create", "a", "--subagent", "x")):
            self.assertEqual(ctl(*arguments).returncode, 2, arguments)
        self.assertEqual(ctl("skill", "list", url="gopher://x").returncode, 2)

    def test_help_and_version_are_zero(self):
        for arguments in (("--help",), ("run", "--help"), ("skill", "publish", "--help"), ("--version",)):
            done = ctl(*arguments)
            self.assertEqual(done.returncode, 0)
            self.assertIn(b"assayctl", done.stdout + done.stderr)

    def test_errors_are_json_on_request(self):
        with FakeServer(lambda _: problem(422, "refused", "no such skill", reason="skill_not_found")) as server:
            done = ctl("run", "demo", "a.py", "--json", url=server.url)
        self.assertEqual(json.loads(done.stderr), {"code": "refused", "detail": "no such skill", "reason": "skill_not_found"})
        self.assertEqual(done.returncode, 4)

    def test_never_print_the_token(self):
        with FakeServer(lambda _: problem(401, "unauthenticated", "no valid token")) as server:
            done = ctl("skill", "list", url=server.url)
        self.assertNotIn(TOKEN.encode(), done.stdout + done.stderr)
        done = ctl("skill", "list", url="http://192.0.2.1:9")
        self.assertEqual(done.returncode, 2)
        self.assertNotIn(TOKEN.encode(), done.stdout + done.stderr)


class Answers(unittest.TestCase):
    def test_lists_follow_pages(self):
        def respond(asked):
            if "page_token=t2" in asked.target:
                return Reply(200, {"items": [{"name": "c"}]})
            return Reply(200, {"items": [{"name": "a"}, {"name": "b"}], "next_page_token": "t2"})

        with FakeServer(respond) as server:
            done = ctl("skill", "list", "--json", url=server.url)
            some = ctl("skill", "list", "--json", "--limit", "2", url=server.url)
        self.assertEqual([i["name"] for i in json.loads(done.stdout)["items"]], ["a", "b", "c"])
        self.assertEqual(json.loads(some.stdout)["next_page_token"], "t2")

    def test_hostile_text_cannot_drive_the_terminal(self):
        with FakeServer(lambda _: Reply(200, {"items": [{"name": "a\x1b[2J", "description": "x\u202ey\n$ rm"}]})) as server:
            done = ctl("skill", "list", url=server.url)
        self.assertNotIn(b"\x1b", done.stdout)
        self.assertNotIn("\u202e".encode(), done.stdout)
        self.assertEqual(len(done.stdout.splitlines()), 2)

    def test_other_programs_behind_the_address_are_named(self):
        with FakeServer(lambda _: Reply(200, b"<html>hello</html>")) as server:
            done = ctl("skill", "list", url=server.url)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"not JSON", done.stderr)

    def test_an_answer_that_breaks_off_is_no_success(self):
        with FakeServer(lambda _: Reply(200, {"items": [{"name": "a" * 500}]}, cut=True)) as server:
            done = ctl("skill", "list", url=server.url)
        self.assertEqual((done.returncode, done.stdout), (3, b""))

    def test_artifacts_are_checked_and_never_overwrite(self):
        bytes_ = os.urandom(5000)
        artifact = {"id": "art_1", "path": "sub/report.html", "sha256": "sha256:" + hashlib.sha256(bytes_).hexdigest()}

        def respond(asked):
            return Reply(200, bytes_) if asked.target.endswith("/content") else Reply(200, artifact)

        with FakeServer(respond) as server, tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder, "x")
            self.assertEqual(ctl("artifact", "get", "art_1", "-o", str(target), url=server.url).returncode, 0)
            self.assertEqual(target.read_bytes(), bytes_)
            self.assertEqual(ctl("artifact", "get", "art_1", "-o", str(target), url=server.url).returncode, 1)
            self.assertEqual(ctl("artifact", "get", "art_1", "-o", str(target), "--force", url=server.url).returncode, 0)
            self.assertEqual(ctl("artifact", "get", "art_1", "-o", "-", url=server.url).stdout, bytes_)
            artifact["sha256"] = "sha256:" + "0" * 64
            wrong = ctl("artifact", "get", "art_1", "-o", folder + "/y", url=server.url)
            self.assertEqual(wrong.returncode, 1)
            self.assertFalse(pathlib.Path(folder, "y").exists())

    def test_manifests_are_checked(self):
        manifest = b'{"a":1}'
        digest = "sha256:" + hashlib.sha256(manifest).hexdigest()
        for etag, expected in ((digest, 0), ("sha256:" + "1" * 64, 1)):
            with FakeServer(lambda _, e=etag: Reply(200, manifest, {"ETag": f'"{e}"'})) as server:
                self.assertEqual(ctl("runs", "manifest", "run_1", url=server.url).returncode, expected)

    def test_health_is_one_when_no_box_can_be_made(self):
        for state, expected in (("ready", 0), ("unavailable", 1)):
            body = {"drivers": [{"name": "bubblewrap", "state": state, "reason": "no user namespaces", "remedy": "allow them"}], "store": {"name": "store", "state": "ready"}}
            with FakeServer(lambda _, b=body: Reply(200, b)) as server:
                done = ctl("health", url=server.url)
            self.assertEqual(done.returncode, expected)
            self.assertIn(b"allow them", done.stdout)


class Ways(unittest.TestCase):
    def test_a_unix_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            with FakeServer(lambda _: Reply(200, {"items": []}), socket_path=folder + "/s") as server:
                self.assertEqual(ctl("skill", "list", url=server.url).returncode, 0)

    def test_tls_by_authority_or_pin_and_never_without(self):
        with tempfile.TemporaryDirectory() as folder:
            pem = folder + "/c.pem"
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", folder + "/k",
                 "-out", folder + "/c", "-days", "2", "-subj", "/CN=assay", "-addext", "subjectAltName=IP:127.0.0.1"],
                check=True, capture_output=True,
            )
            pathlib.Path(pem).write_bytes(pathlib.Path(folder, "k").read_bytes() + pathlib.Path(folder, "c").read_bytes())
            der = subprocess.run(["openssl", "x509", "-in", folder + "/c", "-outform", "DER"], check=True, capture_output=True).stdout
            pin = hashlib.sha256(der).hexdigest()
            with FakeServer(lambda _: Reply(200, {"items": []}), certificate=pem) as server:
                self.assertEqual(ctl("skill", "list", "--ca", folder + "/c", url=server.url).returncode, 0)
                self.assertEqual(ctl("skill", "list", "--fingerprint", pin, url=server.url).returncode, 0)
                unknown = ctl("skill", "list", url=server.url)
                self.assertEqual(unknown.returncode, 3)
                self.assertIn(b"not trusted", unknown.stderr)
                self.assertEqual(ctl("skill", "list", "--fingerprint", "0" * 64, url=server.url).returncode, 3)
                other = server.url.replace("127.0.0.1", "localhost")
                self.assertEqual(ctl("skill", "list", "--ca", folder + "/c", url=other).returncode, 3)


class LocalAdministration(unittest.TestCase):
    def test_tokens_are_made_in_a_private_directory_and_shown_once(self):
        with tempfile.TemporaryDirectory() as folder:
            data = folder + "/data"
            done = ctl("token", "create", "--data", data, "--scope", "team=a", "--scope", "env=test", "--role", "builder", "--role", "runner", "--json")
            made = json.loads(done.stdout)
            canonical = b'{"env":"test","team":"a"}'
            self.assertEqual(made["scope_fingerprint"], "sc_" + hashlib.sha256(canonical).hexdigest()[:32])
            self.assertEqual(made["roles"], ["builder", "runner"])
            self.assertEqual(os.stat(data).st_mode & 0o777, 0o700)
            for file in pathlib.Path(data).rglob("*"):
                if file.is_file():
                    self.assertNotIn(made["secret"].encode(), file.read_bytes())
            again = ctl("token", "create", "--data", data, "--scope", "team=a", "--role", "viewer")
            self.assertRegex(again.stdout.decode(), r"^assay_[A-Za-z0-9_-]{43}\n$")
            self.assertNotIn(again.stdout.strip(), again.stderr)

    def test_faults_of_a_token_are_usage(self):
        with tempfile.TemporaryDirectory() as folder:
            for bad in (["--role", "builder"], ["--scope", "a=b"], ["--scope", "a", "--role", "builder"], ["--scope", "a=b", "--role", "king"],
                        ["--scope", "a=b", "--scope", "a=c", "--role", "builder"], ["--scope", "a=b", "--role", "builder", "--expires", "soon"]):
                self.assertEqual(ctl("token", "create", "--data", folder + "/d", *bad).returncode, 2, bad)

    def test_a_backup_is_a_whole_database_and_replaces_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            data, copy = folder + "/data", folder + "/copy.db"
            ctl("token", "create", "--data", data, "--scope", "team=a", "--role", "viewer", "--name", "in the copy")
            self.assertEqual(ctl("backup", copy, "--data", data).returncode, 0)
            rows = subprocess.run(["sqlite3", copy, "SELECT name FROM tokens"], capture_output=True, check=True).stdout
            self.assertEqual(rows, b"in the copy\n")
            self.assertEqual(ctl("backup", copy, "--data", data).returncode, 1)
            missing = ctl("backup", folder + "/x", "--data", folder + "/nothing")
            self.assertEqual(missing.returncode, 1)
            self.assertFalse(pathlib.Path(folder, "nothing").exists())

    def test_without_a_base_the_list_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn(b"host, unpinned", ctl("base", "list", "--data", folder).stdout)


class Packages(unittest.TestCase):
    def test_valid_ones_have_a_digest_and_lints(self):
        done = ctl("skill", "validate", str(ROOT / "resources/examples/ticket-analysis"), "--json")
        verdict = json.loads(done.stdout)
        self.assertEqual((done.returncode, verdict["valid"], verdict["name"]), (0, True, "ticket-analysis"))
        self.assertEqual([lint["code"] for lint in verdict["lints"]], ["shebang_not_executable"])
        self.assertEqual(ctl("digest", str(ROOT / "resources/examples/ticket-analysis")).stdout.decode().strip(), verdict["digest"])

    def test_invalid_ones_name_file_line_and_column(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "SKILL.md").write_text("---\nname: demo\ndescription: a: b\n---\n")
            done = ctl("skill", "validate", folder)
            self.assertEqual(done.returncode, 5)
            self.assertRegex(done.stderr.decode(), re.escape(folder) + r"/SKILL\.md:3:\d+: ")
            self.assertFalse(json.loads(ctl("skill", "validate", folder, "--json").stdout)["valid"])
            self.assertEqual(ctl("skill", "publish", folder).returncode, 5)
            self.assertEqual(ctl("skill", "validate", folder + "/nothing").returncode, 2)

    def test_links_are_refused_or_copied_and_named(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "SKILL.md").write_text("---\nname: demo\ndescription: text\n---\n")
            os.symlink("SKILL.md", folder + "/again.md")
            self.assertEqual(ctl("skill", "validate", folder).returncode, 5)
            done = ctl("skill", "validate", folder, "--copy-links")
            self.assertEqual(done.returncode, 0)
            self.assertIn(b"again.md", done.stdout)

    def test_a_folder_is_sent_as_the_same_archive_each_time(self):
        example = str(ROOT / "resources/examples/ticket-analysis")
        with FakeServer(lambda _: Reply(201, {"name": "ticket-analysis", "number": 1})) as server:
            for _ in range(2):
                self.assertEqual(ctl("skill", "publish", example, url=server.url).returncode, 0)
            ctl("skill", "publish", example, "--note", "why", "--create", url=server.url)
        one, other, noted = server.exchanges
        self.assertEqual((one.method, one.target), ("PUT", "/v1/skills/ticket-analysis"))
        self.assertEqual(one.headers["Content-Type"], "application/gzip")
        self.assertEqual(one.body, other.body)
        self.assertEqual(noted.headers["If-None-Match"], "*")
        self.assertEqual(noted.json()["note"], "why")
        self.assertEqual(noted.json()["executable"], ["scripts/triage"])
        self.assertEqual(base64.b64decode(noted.json()["assets"]["assets/mark.png"]), pathlib.Path(example, "assets/mark.png").read_bytes())

    def test_exports_are_compared_with_their_digest(self):
        example = str(ROOT / "resources/examples/ticket-analysis")
        digest = ctl("digest", example).stdout.decode().strip()
        with FakeServer(lambda _: Reply(201, {})) as server:
            ctl("skill", "publish", example, url=server.url)
        archive = server.exchanges[0].body
        with tempfile.TemporaryDirectory() as folder:
            for etag, expected in ((digest, 0), ("sha256:" + "0" * 64, 1)):
                with FakeServer(lambda _, e=etag: Reply(200, archive, {"ETag": f'"{e}"'})) as server:
                    done = ctl("skill", "export", "ticket-analysis", "-o", f"{folder}/{expected}.tar.gz", url=server.url)
                self.assertEqual(done.returncode, expected, done.stderr)
            self.assertEqual(os.listdir(folder), ["0.tar.gz"])


class Documents(unittest.TestCase):
    """The manual page and the completion know every command and every long option."""

    @staticmethod
    def commands(path=()):
        text = ctl(*path, "--help").stdout.decode()
        below = text.split("\nSubcommands:\n") + text.split("\nSUBCOMMANDS:\n")
        names = [m[1] for part in below[1:] for m in re.finditer(r"^  ([a-z][a-z-]*)\b", part, re.M)]
        options = set(re.findall(r"^  (?:-\w,)?(--[a-z][a-z-]+)", text.split("ubcommands:")[0], re.M))
        found = {path: options}
        for name in names:
            found |= Documents.commands((*path, name))
        return found

    def test_the_manual_page_is_complete(self):
        page = (ROOT / "packaging" / "assayctl.1").read_text()
        for path, options in self.commands().items():
            if path and path not in (("skill",), ("agent",), ("runs",), ("artifact",), ("token",), ("base",)):
                self.assertIn(f".It Ic {' '.join(path)}", page)
            for option in options:
                self.assertIn(f"Fl -{option[2:]}", page, path)

    def test_the_completion_is_complete(self):
        script = ROOT / "packaging" / "assayctl.bash"
        for path, options in self.commands().items():
            if path:
                self.assertIn(path[-1], self.complete(script, *path[:-1], ""))
                self.assertLessEqual(options - {"--version"}, set(self.complete(script, *path, "-")), path)

    @staticmethod
    def complete(script, *words):
        program = f'. "{script}"; COMP_WORDS=(assayctl "$@"); COMP_CWORD=$#; _assayctl; printf "%s\\n" "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", program, "-", *words], capture_output=True, text=True, timeout=30, check=True)
        return done.stdout.split()


if __name__ == "__main__":
    unittest.main()
