#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""A Python plug-in that builds index arrays: each element is compared, and it is asked for such steps only.

usage: index_test.py <attnbench binary>; skipped where there is no NumPy
"""
import importlib.util
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "testing"))
sys.dont_write_bytecode = True

from plugin_run import replayed, run_plugin

BINARY = os.path.abspath(sys.argv.pop(1))
SCENARIO = """
defaults: {model: {heads_q: 4, heads_kv: 2, head_dim: 32}, kv_cache: {page_size: 4}}
mixes:
  chat: {batch: [{count: 2, mode: decode, kv_len: [3, 400]}, {count: 1, mode: decode, kv_len: 9}]}
measure: {step: [attention, index]}
"""
PLUGIN = """
import numpy as np

class Builder:
    name = "mine"
    builds_indices = "csr"
    def supports(self, problem):
        return None if problem.step == "index" else "it builds index arrays only"
    def plan(self, batch):
        return Plan(batch)

class Plan:
    def __init__(self, batch):
        arrays = batch.indices("csr")
        self.starts, self.pages = (arrays[name].numpy() for name in ("kv_indptr", "kv_indices"))
        self.table, self.lens = (batch.tensor(role).numpy() for role in ("block_table", "seq_lens"))
        self.page_size = batch.problem.page_size
    def run(self, stream):
        pages = -(-self.lens // self.page_size)
        self.starts[1:] = np.cumsum(pages)
        for row, count, start in zip(self.table, pages, self.starts):
            self.pages[start:start + count] = row[:count]
"""


@unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
class IndexTest(unittest.TestCase):
    def run_with(self, plugin, *options):
        return run_plugin(BINARY, plugin, SCENARIO, *options)

    def changed(self, old, new):
        self.assertEqual(PLUGIN.count(old), 1)
        return PLUGIN.replace(old, new)

    def test_right_arrays_pass_and_nobody_else_is_asked(self):
        status, cells, output = self.run_with(PLUGIN)
        self.assertEqual(status, 0, output)
        self.assertIn(cells["mine", "index"][0], ("passed", "MISTRUSTED"), output)  # a busy machine makes times doubtful
        self.assertEqual({backend for backend, step in cells if step == "index"}, {"mine", "index_builder"})
        self.assertNotIn(("mine", "attention"), cells)

    def test_a_wrong_entry_is_named_with_its_request(self):
        status, cells, output = self.run_with(self.changed("row[:count]", "row[:count] + (start > 100)"), "--backend", "mine")
        verdict, reason = cells["mine", "index"]
        self.assertEqual(verdict, "INCORRECT", output)
        self.assertRegex(reason, r"^kv_indices\[101\] of request 2 is \d+; it should be \d+")
        self.assertNotEqual(status, 0)

    def test_an_entry_that_is_left_out_is_named(self):
        _, cells, _ = self.run_with(self.changed("start + count] = row[:count]", "start + count - 1] = row[:count - 1]"),
                                    "--backend", "mine")
        self.assertRegex(cells["mine", "index"][1], r"^kv_indices\[0\] of request 0 was not written; it should be \d+")

    def test_the_answer_is_not_to_be_had(self):
        for asked, refused in (('batch.indices("csr", host=True)', "arrays that the step builds have no values on the host"),
                               ('batch.indices("page_table")', "a step that builds csr has no other arrays")):
            _, cells, output = self.run_with(self.changed('batch.indices("csr")', asked), "--backend", "mine")
            self.assertEqual(cells["mine", "index"][0], "CRASHED", output)
            self.assertIn(refused, cells["mine", "index"][1])

    def test_arrays_of_an_earlier_run_are_wrong(self):
        plugin = PLUGIN + replayed("self.table[1, :2]", "starts", "pages")
        verdict, reason = self.run_with(plugin, "--backend", "mine", "--sample-nonce", "1")[1]["mine", "index"]
        self.assertEqual(verdict, "INCORRECT", reason)
        self.assertRegex(reason, r"^kv_indices\[\d+\] of request \d is \d+; it should be \d+")

    def test_what_cannot_be_built_is_refused_before_the_run(self):
        status, _, output = self.run_with(self.changed('"csr"\n    def', '"csr tables"\n    def'))
        self.assertEqual(status, 4, output)
        self.assertIn("backend 'mine' builds 'tables'; csr and page_table can be built", output)


if __name__ == "__main__":
    unittest.main()
