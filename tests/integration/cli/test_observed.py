# SPDX-License-Identifier: Apache-2.0
"""What an operator sees: metrics with labels from closed sets only, and a log without secrets, after hostile use (R17, R19)."""

import base64
import http.client
import json
import re
import sys
import unittest
import urllib.parse

from server_process import ServerProcess, write_skill

BIN = sys.argv.pop(1)
TENANT = "raw-scope-value-of-acme"
SECRETS = ("sekret-input", "sekret-stdin", "sekret-variable", "sekret-argument", "sekret-path", "sekret-query", "sekret-body", "sekret-note")

# Every label of every metric, and what its values may look like.
LABELS = {
    "method": r"GET|HEAD|POST|PUT|PATCH|DELETE|none",
    "route": r"none|/|/metrics|/(v1/)?[a-z.]+(/(\{[a-z.]+\}|[a-z]+))*",
    "status": r"[1-5][0-9][0-9]",
    "reason": r"[a-z_]+",
    "outcome": r"created|revised|unchanged",
    "code": r"[a-z_0-9]+",
    "backend": r"database|filesystem",
    "termination": r"[a-z_]+",
    "state": r"succeeded|failed|cancelled|refused",
    "kind": r"runs|artifacts|revisions|skills|packages|artifact_bytes|kept_answers|temporary_files|trees",
    "complete": r"true|false",
    "le": r"[0-9.e+-]+|\+Inf",
    "quantile": r"[0-9.]+",
    "decision": r"[a-z_]+",
    "surface": r"[a-z_]+",
}


class Observed(unittest.TestCase):
    def setUp(self):
        self.server = ServerProcess(BIN, "log.level=debug", "log.format=json", "metrics.listen=127.0.0.1:0")
        self.server.token = self.server.make_token("tenant=" + TENANT)
        self.assertTrue(self.server.start())
        self.ids = set()

    def tearDown(self):
        self.server.close()

    def ask(self, method, target, body=None, headers=None, url=None):
        address = urllib.parse.urlsplit(url or self.server.url)
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        connection.request(method, target, data, {"Authorization": "Bearer " + self.server.token, "Content-Type": "application/json"} | (headers or {}))
        reply = connection.getresponse()
        content = reply.read()
        self.ids.add(reply.headers["Assay-Request-Id"])
        connection.close()
        return reply.status, content

    def use_it_badly(self):
        skill = {"name": "demo", "note": "sekret-note", "files": {"SKILL.md": "---\nname: demo\ndescription: d\n---\n", "go.sh": "cat; echo $V $1; exit 3\n"}}
        self.assertEqual(self.ask("POST", "/v1/skills", skill)[0], 201)
        self.ask("POST", "/v1/skills", {"name": "demo", "files": {"sekret-path": "sekret-body"}})
        self.ask("PUT", "/v1/skills/demo", b'{"content": "sekret-body', {"If-Match": '"sekret-query"'})
        for target in ("/v1/skills/sekret-path", "/v1/skills?sekret-query=1", "/v1/sekret-path", "/sekret-path?q=sekret-query", "/v1/runs/run_sekret-path"):
            self.ask("GET", target)
        self.ask("GET", "/v1/skills", headers={"Authorization": "Bearer assay_sekret-query"})
        scope = base64.urlsafe_b64encode(json.dumps({"tenant": TENANT}).encode()).decode().rstrip("=")
        self.assertEqual(self.ask("GET", "/v1/skills", headers={"Assay-Scope": scope})[0], 400)
        self.ask("GET", "/v1/skills", headers={"Assay-Request-Id": "sekret-query"})
        run = {"skills": ["demo"], "wait_ms": 60000, "files": {"sekret-path": "sekret-body"}}
        command = {"skill": "demo", "script": "go.sh", "args": ["sekret-argument"], "env": {"V": "sekret-variable"}}
        status, content = self.ask("POST", "/v1/runs", run | {"command": command | {"input": {"x": "sekret-input"}}})
        made = json.loads(content)
        self.ask("POST", "/v1/runs", run | {"command": command | {"stdin": "sekret-stdin"}, "limits": {"pids": 10**9}})
        self.ask("POST", "/v1/runs", run | {"command": command, "driver": "sekret-path"})
        self.ask("POST", "/v1/tokens", {"scope": {"tenant": TENANT + "-2"}, "roles": ["viewer"]})
        self.ask("POST", "/v1/collections", {"dry_run": False})
        return status, made

    def test_metrics_and_log_tell_no_secret_and_no_scope(self):
        status, run = self.use_it_badly()
        _, text = self.ask("GET", "/metrics", url=self.server.urls[-1])
        self.assertEqual(self.server.stop(), 0)
        metrics, log = text.decode(), self.server.log()
        with self.subTest("metrics"):
            self.check_metrics(metrics, ran=status == 201)
        with self.subTest("log"):
            self.check_log(log, run)
        hidden = (*SECRETS, TENANT, self.server.token, self.server.token.removeprefix("assay_"))
        for secret in hidden:
            self.assertNotIn(secret, metrics)
            self.assertNotIn(secret, log, [line for line in log.splitlines() if secret in line][:3])

    def check_metrics(self, metrics, ran):
        for line in metrics.splitlines():
            if line.startswith("#"):
                continue
            name, labels, _ = re.fullmatch(r"(assay_[a-z_]+)(?:\{(.*)\})? (\S+)", line).groups()
            for label, value in re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', labels or ""):
                self.assertIn(label, LABELS, line)
                self.assertRegex(value, f"^(?:{LABELS[label]})$", line)
        wanted = ["assay_http_requests_total", "assay_publishes_total", "assay_publish_failures_total", "assay_access_denied_total", "assay_collections_total"]
        if ran:
            wanted += ["assay_command_seconds_count 1", 'assay_commands_total{termination="exited"} 1', "assay_box_starts_total 1", "assay_boxes_live 0"]
            wanted += ['assay_package_cache_misses_total{backend="database"} 1', "assay_materialization_seconds_count 1", 'assay_runs_total{state="failed"} 1']
        for name in wanted:
            self.assertIn(name, metrics)
        for reason in ("token", "scope_header"):
            self.assertIn(f'assay_access_denied_total{{reason="{reason}"}}', metrics)

    def check_log(self, log, run):
        lines = [json.loads(line) for line in log.splitlines()]
        answered = {line["request"]: line for line in lines if line["message"] == "answered"}
        self.assertTrue(self.ids <= set(answered), self.ids - set(answered))
        self.assertEqual({line["route"] for line in answered.values()} & {"/v1/skills/sekret-path"}, set())
        if "id" in run:
            started = [line for line in lines if line.get("run") == run["id"] and line["message"] == "run started"]
            self.assertEqual(answered[started[0]["request"]]["route"], "/v1/runs")
        for line in lines:
            self.assertTrue({"time", "level", "message"} <= set(line))
            self.assertNotIn("sc_", json.dumps(line))


if __name__ == "__main__":
    unittest.main()
