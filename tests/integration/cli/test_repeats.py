# SPDX-License-Identifier: Apache-2.0
"""A request with an Idempotency-Key is executed once, also when the server is killed while it works on it."""

import http.client
import json
import random
import signal
import sys
import threading
import time
import unittest
import urllib.parse

from server_process import ServerProcess

BIN = sys.argv.pop(1)
ROUNDS = 30


class Repeats(unittest.TestCase):
    def setUp(self):
        self.server = ServerProcess(BIN, "execution=false")

    def tearDown(self):
        self.server.close()

    def make_token(self, key):
        """Tokens have no name that must be their own: what executes twice makes two."""
        address = urllib.parse.urlsplit(self.server.url)
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
        body = json.dumps({"name": key, "scope": {"team": "x"}, "roles": ["viewer"]})
        headers = {"Authorization": "Bearer " + self.server.token, "Content-Type": "application/json", "Idempotency-Key": key}
        try:
            connection.request("POST", "/v1/tokens", body, headers)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        except (OSError, http.client.HTTPException):
            return 0, {}
        finally:
            connection.close()

    def count(self, key):
        return sum(token["name"] == key for token in self.server.json("token", "list", "--limit", "1000")["items"])

    def test_never_executes_twice(self):
        random.seed(7)
        seen = set()
        for number in range(ROUNDS):
            key = f"key-{number}"
            self.assertTrue(self.server.start())
            first = []
            caller = threading.Thread(target=lambda: first.append(self.make_token(key)))
            caller.start()
            time.sleep(random.uniform(0.0, 0.02))
            self.server.stop(signal.SIGKILL)
            caller.join()
            self.assertTrue(self.server.start())
            status, answer = self.make_token(key)
            made = self.count(key)
            self.assertLessEqual(made, 1, (number, first, status))
            if first[0][0] == 201:
                self.assertEqual((status, answer), first[0])
            if status == 201:
                self.assertEqual(made, 1)
            else:
                self.assertEqual((status, answer["code"]), (409, "conflict"))
                self.assertEqual(self.make_token(key)[0], 409)
            seen.add((first[0][0], status))
            self.server.stop()
        self.assertGreater(len(seen), 1, seen)  # some were cut off before, some after


if __name__ == "__main__":
    unittest.main()
