# SPDX-License-Identifier: Apache-2.0
"""From one package store to the other and back, beside servers, kills and damage: nothing that is named is lost (R16)."""

import json
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from server_process import ServerProcess, write_skill

BIN = sys.argv.pop(1)
SKILLS = 60


class Cutover(unittest.TestCase):
    def setUp(self):
        self.server = ServerProcess(BIN, "execution=false")
        self.root = self.server.path / "bundles"
        self.on_files = ("skills.backend=filesystem", f"skills.filesystem_root={self.root}")
        self.files = self.server.path / "files"

    def tearDown(self):
        self.server.close()

    def publish(self, count=SKILLS, body="Do it.\n"):
        for number in range(count):
            write_skill(self.files, f"skill-{number}", body, {"data.bin": bytes([number]) * 20_000})
        self.assertEqual(self.server.ctl("skill", "import", self.files).returncode, 0)

    def digests(self):
        return {item["name"]: item["digest"] for item in self.server.json("skill", "list", "--limit", "1000")["items"]}

    def check_all(self, expected):
        """Every skill answers its bytes: the export is hashed by the server on its way out and by the client again."""
        self.assertEqual(self.digests(), expected)
        for name in expected:
            self.assertEqual(self.server.json("skill", "export", name, "--force")["digest"], expected[name])

    def cutover(self, *arguments, state=None):
        done = self.server.json("store", "cutover", *arguments)
        if state:
            self.assertEqual(done["state"], state, done)
        return done

    def to_files(self, **options):
        return self.cutover("--to", "filesystem", "--root", self.root, **options)

    def test_there_and_back_and_finished(self):
        self.assertTrue(self.server.start())
        self.publish()
        expected = self.digests()
        beside = self.to_files(state="copied")
        self.assertEqual((beside["packages"]["copied"], beside["packages"]["lost"]), (SKILLS, 0))
        write_skill(self.files, "skill-0", "Published meanwhile.\n")
        self.server.ctl("skill", "import", self.files)
        expected = self.digests()
        self.server.stop()
        switched = self.to_files(state="switched")
        self.assertEqual((switched["packages"]["copied"], switched["packages"]["present"]), (1, SKILLS))
        self.assertFalse(self.server.start(), "a server with the old settings must not start")
        self.assertIn("assayctl store cutover", self.server.log())
        self.server.process.wait(20)
        self.assertTrue(self.server.start(*self.on_files))
        self.check_all(expected)
        third = self.server.ctl("store", "cutover", "--to", "filesystem", "--root", self.server.path / "third")
        self.assertEqual(third.returncode, 1, "what was left in the first place would be forgotten")
        self.assertIn(b"--finish", third.stderr if isinstance(third.stderr, bytes) else third.stderr.encode())
        write_skill(self.files, "skill-1", "Published on files.\n")
        self.server.ctl("skill", "import", self.files)
        expected = self.digests()
        self.server.stop()
        back = self.cutover("--to", "database", state="switched")
        self.assertEqual(back["packages"]["copied"], 1)
        self.assertTrue(self.server.start())
        self.check_all(expected)
        finished = self.cutover("--finish", state="finished")
        self.assertEqual(finished["removed"], SKILLS + 2)
        self.assertEqual([p for p in self.root.rglob("*") if p.is_file()], [])
        self.check_all(expected)
        self.assertEqual(self.server.ctl("store", "cutover", "--finish").returncode, 1)
        self.assertEqual(self.server.ctl("store", "cutover", "--to", "database").returncode, 1)

    def test_a_killed_copy_goes_on(self):
        self.assertTrue(self.server.start())
        self.publish()
        expected = self.digests()
        self.server.stop()
        command = [self.server.binaries / "assayctl", "store", "cutover", "--data", self.server.data, "--to", "filesystem", "--root", self.root]
        for pause in (0.03, 0.06, 0.1, 0.15):
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                time.sleep(pause)
                process.send_signal(signal.SIGKILL)
            if self.server.start():  # not switched yet: the old place is whole
                self.check_all(expected)
                self.server.stop()
            else:
                self.server.process.wait(20)
        last = self.server.ctl("store", "cutover", "--to", "filesystem", "--root", self.root, "--json")
        if last.returncode == 0:
            self.assertEqual(json.loads(last.stdout)["state"], "switched")
        else:  # the last of the killed ones had switched
            self.assertIn(b"already", last.stderr)
        self.assertTrue(self.server.start(*self.on_files))
        self.check_all(expected)

    def test_damage_is_found_and_stops_the_switch(self):
        self.server.settings += self.on_files
        self.assertTrue(self.server.start())
        self.publish(5)
        expected = self.digests()
        self.server.stop()
        hurt, gone = (next(self.root.rglob(expected[name].removeprefix("sha256:"))) for name in ("skill-1", "skill-3"))
        good = hurt.read_bytes()
        hurt.write_bytes(good[:-1] + b"!")
        gone.unlink()
        told = self.cutover("--to", "database", state="incomplete")
        self.assertEqual({lost["digest"] for lost in told["packages"]["lost_bundles"]}, {expected["skill-1"], expected["skill-3"]})
        self.assertTrue(self.server.start(), "nothing was switched")
        self.server.stop()
        hurt.write_bytes(good)
        self.assertEqual(self.cutover("--to", "database", state="incomplete")["packages"]["lost"], 1)
        self.cutover("--to", "database", "--accept-lost", state="switched")
        self.server.settings = ["execution=false"]
        self.assertTrue(self.server.start())
        self.assertEqual(self.server.ctl("skill", "export", "skill-1").returncode, 0)
        self.assertNotEqual(self.server.ctl("skill", "export", "skill-3").returncode, 0)
        self.assertEqual(self.server.ctl("skill", "publish", self.files / "skill-3").returncode, 0)  # repairs it
        self.assertEqual(self.server.ctl("skill", "export", "skill-3").returncode, 0)

    def test_usage_is_checked_before_anything(self):
        self.assertEqual(self.server.ctl("store", "cutover", "--to", "filesystem", "--root", self.root).returncode, 1)  # no server yet
        for bad in ((), ("--to", "database", "--finish"), ("--to", "s3")):
            self.assertEqual(self.server.ctl("store", "cutover", *bad).returncode, 2, bad)
        self.assertTrue(self.server.start())
        self.assertEqual(self.server.ctl("store", "cutover", "--to", "filesystem").returncode, 2)
        self.assertEqual(self.server.ctl("store", "cutover", "--to", "database", "--root", "/x").returncode, 2)
        self.assertFalse(pathlib.Path(self.root).exists())


if __name__ == "__main__":
    unittest.main()
