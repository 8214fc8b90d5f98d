# SPDX-License-Identifier: Apache-2.0
"""Skills that are kept in files: imported again and again, only what changed is published (R16)."""

import json
import sys
import unittest

from server_process import ServerProcess, write_skill

BIN = sys.argv.pop(1)


class Import(unittest.TestCase):
    def setUp(self):
        self.server = ServerProcess(BIN, "execution=false")
        self.assertTrue(self.server.start())
        self.files = self.server.path / "files"
        write_skill(self.files / "team", "alpha", files={"scripts/a.py": b"print(1)\n", "logo.bin": b"\0\xff"})
        write_skill(self.files / "team" / "deep", "beta")
        write_skill(self.files, "gamma")

    def tearDown(self):
        self.server.close()

    def statuses(self, *arguments, expect=0):
        done = self.server.ctl("skill", "import", self.files, *arguments, "--json")
        self.assertEqual(done.returncode, expect, done.stderr)
        return {item.get("name", item["folder"].rsplit("/", 1)[-1]): item["status"] for item in json.loads(done.stdout)["items"]}

    def test_publishes_once_and_then_only_what_changed(self):
        created = {"alpha": "created", "beta": "created", "gamma": "created"}
        self.assertEqual(self.statuses("--dry-run"), created)
        self.assertEqual(self.server.json("skill", "list")["items"], [])
        self.assertEqual(self.statuses(), created)
        self.assertEqual(self.statuses(), dict.fromkeys(created, "unchanged"))
        write_skill(self.files, "gamma", "Do more.\n")
        self.assertEqual(self.statuses(), {"alpha": "unchanged", "beta": "unchanged", "gamma": "updated"})
        self.assertEqual(len(self.server.json("skill", "history", "gamma")["items"]), 2)

    def test_one_bad_skill_stops_no_other(self):
        (self.files / "bad").mkdir()
        (self.files / "bad" / "SKILL.md").write_text("---\nname: bad\n---\n")
        write_skill(self.files / "twice", "beta", "Another of the name.\n")
        self.assertEqual(self.statuses(expect=5), {"bad": "invalid", "gamma": "created", "alpha": "created", "beta": "invalid"})
        told = self.server.ctl("skill", "import", self.files)
        self.assertEqual(told.returncode, 5)
        self.assertIn(b"missing_description", told.stderr)
        self.assertIn(b"stands in", told.stderr)
        self.assertEqual([s["name"] for s in self.server.json("skill", "list")["items"]], ["alpha", "beta", "gamma"])

    def test_does_not_undo_a_rollback(self):
        self.statuses()
        first = self.server.json("skill", "show", "gamma")["revision"]["id"]
        write_skill(self.files, "gamma", "Worse.\n")
        self.statuses()
        self.assertEqual(self.server.ctl("skill", "promote", "gamma", first).returncode, 0)
        self.assertEqual(self.statuses()["gamma"], "unchanged")
        self.assertEqual(self.server.json("skill", "show", "gamma")["revision"]["id"], first)

    def test_links_and_hidden_folders_are_not_followed(self):
        (self.files / "loop").symlink_to(self.files)
        write_skill(self.files / ".git", "hidden")
        self.assertEqual(set(self.statuses()), {"alpha", "beta", "gamma"})

    def test_without_the_role_nothing_is_published(self):
        viewer = self.server.make_token("team=test", ("viewer",))
        done = self.server.ctl("skill", "import", self.files, token=viewer)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(self.server.ctl("skill", "import", self.server.path / "nothing").returncode, 2)


if __name__ == "__main__":
    unittest.main()
