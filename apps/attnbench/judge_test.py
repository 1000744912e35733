#!/usr/bin/env python3
"""A backend that tries to look faster or more right than it is gets no speed, and honest oddities keep theirs.

usage: judge_test.py <attnbench binary> <cheating_plugin.so>
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PLUGIN = os.path.abspath(sys.argv.pop(2))
BINARY = os.path.abspath(sys.argv.pop(1))

# Few heads and keys, so that a test takes seconds; lengths differ, and a page is never full by chance.
SCENARIO = """
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
  kv_cache: {page_size: 16}
mixes:
  dec: {batch: [{count: 4, mode: decode, kv_len: [200, 413, 65, 340]}]}
  mix: {batch: [{count: 2, mode: decode, kv_len: [150, 301]}, {mode: extend, q_len: 24, prefix_len: 96}]}
measure: {cache: [cold]}
verify: {rows: 64}
"""


class Judge(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_backend(self, name, *options):
        """The exit code, and the records of `name` by case."""
        scenario = os.path.join(self.folder.name, "s.yaml")
        result = os.path.join(self.folder.name, "r.json")
        with open(scenario, "w") as file:
            file.write(SCENARIO)
        command = [BINARY, "run", scenario, "--plugin", PLUGIN, "--backend", name, "--quick",
                   "--json", result, *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        with open(result) as file:
            records = json.load(file)["records"]
        return done.returncode, {each["case"]: each for each in records if each["backend"] == name}

    def test_an_honest_backend_passes(self):
        code, records = self.run_backend("honest")
        self.assertEqual({"dec": "passed", "mix": "passed"},
                         {case: each["verdict"] for case, each in records.items()})
        self.assertEqual(0, code)


if __name__ == "__main__":
    unittest.main(verbosity=1)
