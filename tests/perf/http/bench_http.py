#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of the HTTP server: reads against nginx on the same cores, memory, and the time from exec to ready.

bench_http.py BUILD_FOLDER [--skills 10000] [--seconds 3]      prints one JSON object; ratios of one run on one machine
"""

import argparse
import base64
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import tempfile
import time

SCOPE = base64.urlsafe_b64encode(b'{"tenant":"bench"}').rstrip(b"=").decode()
INGRESS = {"Assay-Scope": SCOPE, "Assay-Principal": "bench", "Assay-Roles": "viewer,builder,operator"}
CLIENTS = 16


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a UNIX socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)

    def ask(self, method, target, body=None):
        headers = dict(INGRESS)
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        self.request(method, target, body, headers)
        reply = self.getresponse()
        data = reply.read()
        if reply.status >= 300:
            raise SystemExit(f"{method} {target}: {reply.status} {data[:500]!r}")
        return data


@contextlib.contextmanager
def serving(program, data, ready=None):
    """Runs assayd on `data`; yields the TCP address, the socket's path and the process."""
    path = str(pathlib.Path(data) / "bench.sock")
    command = [program, "--data", data, "--listen", "127.0.0.1:0", "--listen", f"unix:{path}?ingress=trusted", "--set", "log.level=error"]
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    if ready is not None:
        ready.append((time.monotonic() - start) * 1000)
    if not line:
        raise SystemExit("assayd did not start")
    try:
        yield json.loads(line)["listening"][0], path, process
    finally:
        process.send_signal(signal.SIGTERM)
        if process.wait(30) != 0:
            raise SystemExit(f"assayd ended with {process.returncode}")


def skill(name, payload=""):
    text = f"---\nname: {name}\ndescription: A skill for measuring, number {name}.\n---\n# {name}\n"
    return {"files": {"SKILL.md": text, "reference.md": payload or "short\n"}}


def seed(path, count):
    def put(numbers):
        connection = UnixConnection(path)
        for number in numbers:
            connection.ask("PUT", f"/v1/skills/skill-{number:05}", skill(f"skill-{number:05}"))

    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(put, [range(first, count, CLIENTS) for first in range(CLIENTS)]))


def resident_kib(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


def wrk(url, seconds, headers=()):
    command = ["wrk", "-t1", "-c64", f"-d{seconds}s", *[f"-H{h}" for h in headers], url]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in out:
        raise SystemExit(f"{url}: {out}")
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])


@contextlib.contextmanager
def nginx(folder):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = pathlib.Path(folder) / "nginx.conf"
    config.write_text(
        f"worker_processes auto; pid {folder}/pid; error_log stderr error; daemon off; user root;\n"
        "events { worker_connections 1024; }\n"
        f"http {{ access_log off; sendfile on; keepalive_requests 100000000; server {{ listen 127.0.0.1:{port}; root {folder}; }} }}\n"
    )
    process = subprocess.Popen(["nginx", "-c", str(config), "-p", folder])
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def compare(name, target, url, token, size, folder, seconds):
    """Alternates with nginx, three times each, and takes medians: other work on the machine hits both."""
    path = pathlib.Path(folder) / name
    path.write_bytes(random.Random(1).randbytes(size))
    path.chmod(0o644)
    ours, theirs = [], []
    with nginx(folder) as other:
        for _ in range(3):
            theirs.append(wrk(f"{other}/{name}", seconds))
            ours.append(wrk(url + target, seconds, [f"Authorization: Bearer {token}"]))
    mine, reference = sorted(ours)[1], sorted(theirs)[1]
    return {"bytes": size, "per_second": round(mine), "nginx_per_second": round(reference), "ratio": round(mine / reference, 3)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--skills", type=int, default=10000)
    parser.add_argument("--seconds", type=int, default=3)
    options = parser.parse_args()
    program = str(pathlib.Path(options.build) / "bin/assayd")
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        data = str(pathlib.Path(folder) / "data")
        with serving(program, data) as (url, path, process):
            time.sleep(1)
            result["idle_kib"] = resident_kib(process)
            connection = UnixConnection(path)
            token = json.loads(connection.ask("POST", "/v1/tokens", {"scope": {"tenant": "bench"}, "roles": ["viewer"]}))["secret"]
            payload = base64.b64encode(random.Random(2).randbytes(19_500)).decode()
            connection.ask("PUT", "/v1/skills/large", skill("large", payload + "\n"))
            small = connection.ask("GET", "/v1/skills/large")
            archive = connection.ask("GET", "/v1/skills/large/revisions/current/archive?format=zip")
            result["skill"] = compare("skill", "/v1/skills/large", url, token, len(small), folder, options.seconds)
            target = "/v1/skills/large/revisions/current/archive?format=zip"
            result["archive"] = compare("archive", target, url, token, len(archive), folder, options.seconds)
            begin = time.monotonic()
            seed(path, options.skills)
            result["seeded_per_second"] = round(options.skills / (time.monotonic() - begin))
            time.sleep(11)
            result["after_load_kib"] = resident_kib(process)
        ready = []
        for _ in range(5):
            with serving(program, data, ready):
                pass
        result["exec_to_ready_ms"] = {"skills": options.skills, "median": round(sorted(ready)[2], 1), "all": [round(t, 1) for t in ready]}
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
