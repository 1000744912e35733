#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""A Python plug-in attends to the keys that an indexer and a selector have just left, if it says that it can.

usage: pipeline_test.py <attnbench binary>; skipped where there is no NumPy
"""
import importlib.util
import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "testing"))
sys.dont_write_bytecode = True

from plugin_run import run_plugin

BINARY = os.path.abspath(sys.argv.pop(1))
SCENARIO = """
defaults: {model: {heads_q: 4, heads_kv: 2, head_dim: 32}, attention: {selection: {topk: 8, index_heads: 5}}, kv_cache: {page_size: 16}}
mixes:
  chat: {batch: [{count: 2, mode: decode, kv_len: [3, 100]}, {mode: extend, q_len: 5, prefix_len: 30}]}
measure: {step: pipeline}
"""
SAYS_SO = ("    reads_selection = True", "    reads_lists_at_run = True\n    reads_selection = True")
KEEPS_BATCH = ("        problem = batch.problem\n", "        problem, self.batch = batch.problem, batch\n")
READS_AT_RUN = ('        """Computes out and lse. It is called many times. A CPU has no stream."""\n',
                "        self.__init__(self.batch)\n")


@unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
class PipelineTest(unittest.TestCase):
    def run_example(self, *changes):
        """The example, changed: the exit status, verdict and reason of the pipeline that it ends, and what was printed."""
        text = (HERE / "python_example.py").read_text()
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new, 1)
        status, cells, output = run_plugin(BINARY, text, SCENARIO, "--backend", "indexer+topk+python_example")
        return status, cells.get(("indexer+topk+python_example", "pipeline")), output

    def test_lists_that_are_read_when_it_runs_are_those_of_the_selector(self):
        status, cell, output = self.run_example(SAYS_SO, KEEPS_BATCH, READS_AT_RUN)
        self.assertEqual(status, 0, output)
        self.assertIn(cell[0], ("passed", "MISTRUSTED"), output)  # a busy machine makes times doubtful

    def test_lists_that_are_read_when_it_plans_are_found_out(self):
        status, cell, output = self.run_example(SAYS_SO)
        self.assertNotEqual(status, 0)
        self.assertEqual(cell[0], "INCORRECT", output)

    def test_who_does_not_say_so_is_no_part_of_a_pipeline(self):
        status, cell, output = self.run_example()
        self.assertEqual((status, cell), (4, None), output)
        self.assertIn("'python_example': it does not say that it reads lists of chosen keys when it runs", output)


if __name__ == "__main__":
    unittest.main()
