#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""crash_safety.py BIN [OPERATIONS [SEED]]

Kills `assayd` with SIGKILL at random moments during OPERATIONS (200) publishes and runs, starts it again on the same data,
and checks after each start that
- every publish that was answered is there, whole, with the digest that was answered;
- no revision is half written: every listed revision's every file reads back with its SHA-256;
- every run that was answered is there, ended; those that were cut off are `failed` with reason `interrupted`;
- no process, mount or control group of a box is left;
- the audit ledger verifies, has a row for every publish and run that was answered, and one end for every command that was
  reserved: `outcome_unknown` for those of interrupted runs, never silence.
The seed is printed, so that a failure can be repeated.
"""

import hashlib
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

MARKER = "31557600"  # what the boxes sleep for: nothing else on the machine does


class Server:
    def __init__(self, binaries, data):
        self.binaries, self.data = binaries, data
        self.process = None
        self.port = None

    def start(self):
        begin = time.monotonic()
        self.process = subprocess.Popen(
            [os.path.join(self.binaries, "assayd"), "--data", self.data, "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=open(os.path.join(self.data, "log"), "ab"))
        line = self.process.stdout.readline()
        if not line:
            sys.exit("assayd did not start; see its log:\n" + open(os.path.join(self.data, "log")).read()[-4000:])
        self.port = int(json.loads(line)["listening"][0].rsplit(":", 1)[1].strip("/"))
        return time.monotonic() - begin

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


class Client:
    def __init__(self, server, secret):
        self.server, self.secret = server, secret

    def call(self, method, path, body=None, timeout=30):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=timeout)
        try:
            headers = {"Authorization": "Bearer " + self.secret}
            payload = None
            if body is not None:
                payload = json.dumps(body)
                headers["Content-Type"] = "application/json"
            connection.request(method, path, payload, headers)
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()

    def get(self, path):
        status, body = self.call("GET", path)
        assert status == 200, f"GET {path}: {status} {body[:400]!r}"
        return json.loads(body)


class Acknowledged:
    """What the server has answered for, and so may never lose."""

    def __init__(self):
        self.lock = threading.Lock()
        self.revisions = {}  # (skill, revision) -> digest
        self.runs = set()
        self.operations = 0


def publish(client, known, number, randomness):
    name = f"skill-{number % 7}"
    text = f"---\nname: {name}\ndescription: Version {number}.\n---\n"
    files = {"SKILL.md": text, "a.sh": "echo ok > /workspace/out/x\n", "data.txt": "x" * randomness.randrange(1, 60_000)}
    status, body = client.call("PUT", f"/v1/skills/{name}", {"files": files})
    if status in (200, 201):
        skill = json.loads(body)
        with known.lock:
            known.revisions[(name, skill["revision"])] = skill["digest"]


def run(client, known, number):
    long = number % 3 == 0
    argv = ["sleep", MARKER] if long else ["sh", "-c", "echo hi; echo x > out/x"]
    body = {"skills": [f"skill-{number % 7}"], "command": {"argv": argv}, "wait_ms": 0 if long else 20000}
    status, reply = client.call("POST", "/v1/runs", body)
    if status == 201:
        with known.lock:
            known.runs.add(json.loads(reply)["id"])


def worker(client, known, stop, limit, seed):
    randomness = random.Random(seed)
    while not stop.is_set():
        with known.lock:
            if known.operations >= limit:
                return
            known.operations += 1
            number = known.operations
        time.sleep(randomness.uniform(0, 0.03))
        try:
            if randomness.random() < 0.6:
                publish(client, known, number, randomness)
            else:
                run(client, known, number)
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            return  # the server was killed under this call: nothing was answered


def wait_for_some(known, count, deadline):
    """Lets `count` more operations begin, so that the number of kills does not depend on the machine's speed."""
    with known.lock:
        goal = known.operations + count
    while time.monotonic() < deadline:
        with known.lock:
            if known.operations >= goal:
                return
        time.sleep(0.002)


def check_revisions(client, known):
    for (name, revision), digest in known.revisions.items():
        shown = client.get(f"/v1/skills/{name}/revisions/{revision}")
        assert shown["digest"] == digest, f"{name} {revision}: {shown['digest']} is not {digest}"
    for skill in client.get("/v1/skills?page_size=200")["items"]:
        name = skill["name"]
        for revision in client.get(f"/v1/skills/{name}/revisions?page_size=200")["items"]:
            base = f"/v1/skills/{name}/revisions/{revision['id']}/files"
            for file in client.get(base)["items"]:
                status, content = client.call("GET", f"{base}/{file['path']}")
                assert status == 200, f"{base}/{file['path']}: {status}"
                assert "sha256:" + hashlib.sha256(content).hexdigest() == file["sha256"], f"{base}/{file['path']} is damaged"


def check_runs(client, known):
    interrupted = 0
    for identity in known.runs:
        shown = client.get(f"/v1/runs/{identity}")
        assert shown["state"] in ("succeeded", "failed", "refused", "cancelled"), f"{identity} is {shown['state']} after a start"
        if shown["state"] == "failed":
            assert shown["reason"] == "interrupted", f"{identity} failed with {shown['reason']}: {shown.get('message')}"
            interrupted += 1
        status, body = client.call("GET", f"/v1/runs/{identity}/manifest")
        assert status == 200, f"the manifest of {identity}: {status}"
        assert "sha256:" + hashlib.sha256(body).hexdigest() == shown["manifest_digest"], f"the manifest of {identity} is damaged"
    return interrupted


def ledger_rows(client):
    rows, token = [], ""
    while True:
        page = client.get("/v1/audit?page_size=200" + (f"&page_token={token}" if token else ""))
        rows += page["items"]
        token = page.get("next_page_token", "")
        if not token:
            return rows


def check_ledger(client, known):
    verdict = client.get("/v1/audit/verify")
    assert verdict["valid"], f"the ledger is broken: {verdict['first_bad']}"
    rows = ledger_rows(client)
    published = {row["resource"] for row in rows if (row["operation"], row["decision"]) == ("skill.publish", "allowed")}
    started = {row["resource"] for row in rows if (row["operation"], row["decision"]) == ("run.start", "allowed")}
    missing = {f"{name}@{revision}" for name, revision in known.revisions} - published
    assert not missing, f"publishes without a row: {missing}"
    assert known.runs <= started, f"runs without a row: {known.runs - started}"
    commands = [row for row in rows if row["operation"] == "command.execute"]
    reserved = {row["seq"] for row in commands if row["decision"] == "allowed"}
    ends = [row["reservation"] for row in commands if row["decision"] != "allowed"]
    assert sorted(reserved) == sorted(ends), f"reserved and not ended: {reserved - set(ends)}; ended twice or never begun: {ends}"
    return sum(row["decision"] == "outcome_unknown" for row in commands)


def leftovers(data):
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    arguments = file.read().split(b"\0")
            except OSError:
                continue
            if MARKER.encode() in arguments:
                found.append(f"process {entry}: {arguments}")
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        found += ["mount " + line.strip() for line in mounts if data in line]
    return found


def control_groups():
    out = set()
    for folder, names, _ in os.walk("/sys/fs/cgroup"):
        out.update(os.path.join(folder, name) for name in names if "run_" in name or name.startswith("box"))
        if folder.count("/") > 7:
            names.clear()
    return out


def wait_for_nothing(data, groups_before):
    deadline = time.monotonic() + 10
    while True:
        left = leftovers(data) + sorted(control_groups() - groups_before)
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.1)


def make_token(binaries, data):
    command = [os.path.join(binaries, "assayctl"), "token", "create", "--data", data, "--scope", "team=crash",
               "--role", "builder", "--role", "runner", "--role", "reviewer", "--json"]
    made = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=60)
    return json.loads(made.stdout)["secret"]


def main():
    binaries = sys.argv[1]
    limit = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    randomness = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="assay-crash-") as data:
        os.chmod(data, 0o700)
        groups_before = control_groups()
        secret = make_token(binaries, data)
        server = Server(binaries, data)
        client = Client(server, secret)
        known = Acknowledged()
        kills = interrupted = unknown = 0
        server.start()
        while known.operations < limit:
            stop = threading.Event()
            threads = [threading.Thread(target=worker, args=(client, known, stop, limit, randomness.random()))
                       for _ in range(4)]
            for thread in threads:
                thread.start()
            wait_for_some(known, randomness.randrange(1, max(2, limit // 10)), time.monotonic() + 1.5)
            time.sleep(randomness.uniform(0, 0.03))
            server.kill()
            kills += 1
            stop.set()
            for thread in threads:
                thread.join()
            took = server.start()
            left = wait_for_nothing(data, groups_before)
            assert not left, f"left after kill {kills}: {left}"
            check_revisions(client, known)
            interrupted = check_runs(client, known)
            unknown = check_ledger(client, known)
            print(f"kill {kills}: {known.operations} operations, {len(known.revisions)} publishes and {len(known.runs)} runs "
                  f"kept, {interrupted} interrupted, {unknown} outcomes unknown, ready again after {took * 1000:.0f} ms", flush=True)
        assert unknown >= interrupted > 0, "no command was cut off: too little happened to prove anything"
        assert kills >= 5 and len(known.revisions) > limit / 10 and known.runs, "too little happened to prove anything"
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == 0, "assayd did not stop in peace"
        left = wait_for_nothing(data, groups_before)
        assert not left, f"left at the end: {left}"


if __name__ == "__main__":
    main()
