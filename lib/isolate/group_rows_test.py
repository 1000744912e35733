#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""A plug-in reads rows of 584 bytes by what the C header says of them, and those that misread them are found.

usage: group_rows_test.py <attnbench binary>
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

BINARY = os.path.abspath(sys.argv.pop(1))
PLUGIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "testing/group_rows_plugin.py")
WRONG = ("scales_of_the_next_group", "scales_twice_as_large", "scales_of_the_next_token", "scales_on_the_last_columns",
         "pages_without_padding")

SCENARIO = """
defaults:
  model: {heads_q: 2, kv_lora_rank: 512, qk_nope_head_dim: 512, qk_rope_head_dim: 0}
  dtype: f32
  kv_cache: {dtype: fp8_ds_mla}
mixes:
  decode: {kv_cache: {page_size: 64}, batch: 2q1s150_q1s64}
  prompt: {kv_cache: {page_size: 2}, batch: q5s40_q3s3}
  gaps: {kv_cache: {page_size: 16, page_stride: {layers: 2}}, batch: 2q1s50}
measure: {cache: [warm], rounds: [2, 2], samples: [1, 1]}
verify: {rows: 24}
"""


@unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
class GroupRowsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        scenario, results = (os.path.join(folder.name, name) for name in ("s.yaml", "r.json"))
        with open(scenario, "w") as file:
            file.write(SCENARIO)
        done = subprocess.run([BINARY, "run", scenario, "--plugin", PLUGIN, "--python", sys.executable, "--backend",
                               ",".join(("group_rows", *WRONG)), "--json", results], capture_output=True, text=True)
        assert done.returncode == 2, done.stdout + done.stderr
        with open(results) as file:
            records = json.load(file)["records"]
        cls.verdicts = {(r["case"], r["backend"]): r["verdict"] for r in records}
        cls.text = done.stdout

    def test_rows_that_are_read_as_the_header_says_give_the_right_outputs(self):
        for case in ("decode", "prompt", "gaps"):
            self.assertEqual(self.verdicts[case, "group_rows"], "passed", self.text)

    def test_every_other_reading_is_incorrect(self):
        for name in WRONG:
            for case in ("decode", "prompt"):
                self.assertEqual(self.verdicts[case, name], "INCORRECT", name + "\n" + self.text)


if __name__ == "__main__":
    unittest.main()
