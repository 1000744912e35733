#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""A Python plug-in that selects keys: its lists are judged by their scores, and it is asked for such steps only.

usage: select_test.py <attnbench binary>; skipped where there is no NumPy
"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "testing"))
sys.dont_write_bytecode = True

from plugin_run import replayed, run_plugin

BINARY = os.path.abspath(sys.argv.pop(1))
SCENARIO = """
defaults: {model: {heads_q: 4, heads_kv: 2, head_dim: 32}, attention: {selection: {topk: 8, groups: kv_heads}}}
mixes:
  chat: {batch: [{count: 2, mode: decode, kv_len: [3, 400]}, {mode: extend, q_len: 5, prefix_len: 6}]}
measure: {step: [attention, select]}
"""
PLUGIN = """
import numpy as np

class Selector:
    name = "mine"
    selects_keys = True
    def supports(self, problem):
        return None if problem.step == "select" else "it selects keys only"
    def plan(self, batch):
        return Plan(batch)

class Plan:
    def __init__(self, batch):
        roles = ("logits", "row_lens", "topk_indices", "topk_length")
        self.logits, self.lens, self.lists, self.lengths = (batch.tensor(role).numpy() for role in roles)
    def run(self, stream):
        topk = self.lists.shape[2]
        for token, seen in enumerate(self.lens):
            for group in range(self.logits.shape[1]):
                best = np.argsort(-self.logits[token, group, :seen])[:topk]
                self.lists[token, group] = -1
                self.lists[token, group, :len(best)] = best
                self.lengths[token, group] = len(best)
"""


@unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
class SelectTest(unittest.TestCase):
    def run_with(self, plugin, *options):
        return run_plugin(BINARY, plugin, SCENARIO, *options)

    def test_right_lists_pass_and_nobody_else_is_asked(self):
        status, cells, output = self.run_with(PLUGIN)
        self.assertEqual(status, 0, output)
        self.assertIn(cells["mine", "select"][0], ("passed", "MISTRUSTED"), output)  # a busy machine makes times doubtful
        self.assertEqual({backend for backend, step in cells if step == "select"}, {"mine", "topk"})
        self.assertNotIn(("mine", "attention"), cells)

    def test_a_selector_that_ignores_the_lengths_is_blamed(self):
        _, cells, output = self.run_with(PLUGIN.replace("[:seen]", "").replace("group, :seen]", "group]"),
                                         "--backend", "mine")
        verdict, reason = cells["mine", "select"]
        self.assertEqual(verdict, "INCORRECT", output)
        self.assertRegex(reason, r"^row 0, 0 takes key \d+; it has 3")

    def test_lists_of_an_earlier_run_are_wrong(self):
        plugin = PLUGIN + replayed("self.logits[1, 0, :6]", "lists", "lengths")
        verdict, reason = self.run_with(plugin, "--backend", "mine", "--sample-nonce", "1")[1]["mine", "select"]
        self.assertEqual(verdict, "INCORRECT", reason)
        self.assertRegex(reason, r"^row \d+, \d (leaves out|ignores) .* while the eager launches were timed$")

    def test_long_lists_are_no_slow_clock(self):
        """Handing over what a visit's samples hold takes longer than the visit."""
        scenario = SCENARIO.replace("topk: 8, groups: kv_heads", "topk: 4k").replace(
            "[{count: 2, mode: decode, kv_len: [3, 400]}, {mode: extend, q_len: 5, prefix_len: 6}]", "1q1s64")
        done = subprocess.run([BINARY, "run", "-", "--backend", "topk", "--step", "select", "--isolate", "--cache", "warm",
                               "--json", "-"], input=scenario, capture_output=True, text=True, timeout=300)
        record, = json.loads(done.stdout)["records"]
        self.assertNotIn("clock was slowed", record["reason"], done.stderr)

    def test_index_arrays_are_not_to_be_had(self):
        _, cells, output = self.run_with(PLUGIN.replace("        roles =", '        batch.indices("csr")\n        roles ='),
                                         "--backend", "mine")
        self.assertEqual(cells["mine", "select"][0], "CRASHED", output)
        self.assertIn("a step that scores or selects keys has no index arrays", cells["mine", "select"][1])


if __name__ == "__main__":
    unittest.main()
