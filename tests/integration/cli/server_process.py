# SPDX-License-Identifier: Apache-2.0
"""A real assayd on a data directory of its own, and assayctl against it."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile

ROLES = ("viewer", "builder", "reviewer", "runner", "operator")


class ServerProcess:
    """Settings are `--set KEY=VALUE` texts. The log is what the server wrote to standard error, over all its starts."""

    def __init__(self, binaries, *settings):
        self.binaries, self.settings = pathlib.Path(binaries).resolve(), list(settings)
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.data = str(self.path / "data")
        self.process, self.url, self.urls = None, "", []
        self.token = self.make_token("team=test")

    def make_token(self, scope, roles=ROLES):
        words = [word for role in roles for word in ("--role", role)]
        made = subprocess.run([self.binaries / "assayctl", "token", "create", "--data", self.data, "--scope", scope, *words], capture_output=True, check=True)
        return made.stdout.decode().strip()

    def start(self, *more):
        words = [word for setting in (*self.settings, *more) for word in ("--set", setting)]
        with open(self.path / "log", "ab") as log:
            self.process = subprocess.Popen(
                [self.binaries / "assayd", "--data", self.data, "--listen", "127.0.0.1:0", *words], stdout=subprocess.PIPE, stderr=log
            )
        line = self.process.stdout.readline()
        if line:
            self.urls = json.loads(line)["listening"]
            self.url = self.urls[0]
        else:  # it did not start
            self.process.wait(20)
            self.process.stdout.close()
        return bool(line)

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        status = self.process.wait(60)
        self.process.stdout.close()
        self.process = None
        return status

    def log(self):
        return (self.path / "log").read_text()

    def ctl(self, *arguments, stdin=b"", token=None):
        environment = {"PATH": os.environ["PATH"], "ASSAY_URL": self.url, "ASSAY_TOKEN": token or self.token, "ASSAY_DATA": self.data}
        return subprocess.run(
            [self.binaries / "assayctl", *map(str, arguments)], input=stdin, capture_output=True, timeout=180, check=False, env=environment, cwd=self.path
        )

    def json(self, *arguments, **options):
        done = self.ctl(*arguments, "--json", **options)
        return json.loads(done.stdout)

    def close(self):
        if self.process:
            self.stop(signal.SIGKILL)
        self.folder.cleanup()


def write_skill(folder, name, body="Do it.\n", files=()):
    """A skill's folder below `folder`; `files` maps paths to bytes."""
    skill = pathlib.Path(folder, name)
    skill.mkdir(parents=True, exist_ok=True)
    (skill / "SKILL.md").write_text(f"---\nname: {name}\ndescription: About {name}\n---\n{body}")
    for path, content in dict(files).items():
        (skill / path).parent.mkdir(parents=True, exist_ok=True)
        (skill / path).write_bytes(content)
    return skill
