#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Which lists of chosen keys a Python plug-in sees: the example attends to them; one that does not say so is refused.

usage: selection_test.py <attnbench binary>; skipped where there is no NumPy
"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BINARY = os.path.abspath(sys.argv.pop(1))
HERE = pathlib.Path(__file__).resolve().parent
SCENARIO = """
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
  kv_cache: {page_size: 4}
mixes:
  lists:
    attention: {selection: {topk: 5, unit: 2, groups: kv_heads}}
    batch: [{count: 2, mode: decode, kv_len: [3, 40]}, {mode: extend, q_len: 9, prefix_len: 12}]
    sweep: {grid: {attention.selection.padding: [end, front, repeat]}}
  repeated:
    attention: {selection: {topk: 9, pattern: duplicates}}
    batch: [{count: 2, mode: decode, kv_len: [3, 40]}, {mode: extend, q_len: 9, prefix_len: 12}]
"""


@unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
class SelectionTest(unittest.TestCase):
    def verdicts(self, text):
        """The exit status, and of each cell the verdict and the reason."""
        with tempfile.TemporaryDirectory() as folder:
            plugin, scenario = pathlib.Path(folder, "mine.py"), pathlib.Path(folder, "lists.yaml")
            plugin.write_text(text)
            scenario.write_text(SCENARIO)
            done = subprocess.run(
                [BINARY, "run", scenario, "--plugin", plugin, "--python", sys.executable, "--backend", "python_example",
                 "--quick", "--rounds", "1,1", "--cache", "warm", "--json", pathlib.Path(folder, "result.json")],
                capture_output=True, text=True, timeout=300)
            records = json.loads(pathlib.Path(folder, "result.json").read_text())["records"]
        return done.returncode, [(record["verdict"], record["reason"]) for record in records], done.stdout + done.stderr

    def test_the_example_attends_to_the_keys_of_its_lists(self):
        status, cells, output = self.verdicts((HERE / "python_example.py").read_text())
        self.assertEqual((status, len(cells)), (0, 4), output)
        for verdict, _ in cells:  # a busy machine makes times doubtful, not outputs
            self.assertIn(verdict, ("passed", "MISTRUSTED"), output)

    def test_a_list_of_which_an_entry_is_left_out_is_found(self):
        text = (HERE / "python_example.py").read_text()
        wrong = text.replace("lists[token, group, :lengths[token, group]]", "lists[token, group, 1:]")
        self.assertNotEqual(text, wrong)
        status, cells, output = self.verdicts(wrong)
        self.assertEqual([verdict for verdict, _ in cells], ["INCORRECT"] * 4, output)
        self.assertNotEqual(status, 0)

    def test_a_plug_in_that_counts_a_repeated_key_once_is_found_or_refuses_such_lists(self):
        text = (HERE / "python_example.py").read_text()
        mask = text.replace("return named\n", "return named > 0\n")
        self.assertNotEqual(text, mask)
        _, cells, output = self.verdicts(mask)
        self.assertEqual(["INCORRECT" if "INCORRECT" == verdict else "right" for verdict, _ in cells],
                         ["right"] * 3 + ["INCORRECT"], output)
        refusing = mask.replace("        return None\n", "        return problem.topk_repeats and 'names a key once' or None\n", 1)
        self.assertNotEqual(mask, refusing)
        _, cells, output = self.verdicts(refusing)
        self.assertEqual(cells[-1], ("unsupported", "names a key once"), output)
        self.assertNotIn("unsupported", [verdict for verdict, _ in cells[:-1]], output)

    def test_a_plug_in_that_does_not_say_that_it_reads_lists_gets_none(self):
        text = (HERE / "python_example.py").read_text()
        silent = text.replace("reads_selection = True", "reads_selection = False")
        self.assertNotEqual(text, silent)
        _, cells, output = self.verdicts(silent)
        for verdict, reason in cells:
            self.assertNotEqual(verdict, "passed", output)
            self.assertIn("no chosen keys: it does not say that it reads their lists (reads_selection)", reason)


if __name__ == "__main__":
    unittest.main()
