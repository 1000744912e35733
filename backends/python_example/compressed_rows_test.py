#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""What a Python plug-in is told of compressed rows beside a window, and of sinks there.

usage: compressed_rows_test.py <attnbench binary>; skipped where there is no NumPy
"""
import importlib.util
import os
import sys
import unittest

from testing.plugin_run import run_plugin

BINARY = os.path.abspath(sys.argv.pop(1))

# DeepSeek-V4's layers in small: all rows of 8 tokens, or those of a list. Contexts end before, at and behind a row's end.
SCENARIO = """
defaults:
  model: {heads_q: 4, kv_lora_rank: 32, qk_nope_head_dim: 32, qk_rope_head_dim: 0}
  dtype: f32
  kv_cache: {page_size: 4}
  attention: {window: {keys: 6}, sinks: true, compress_ratio: 8}
mixes:
  rows:
    attention: {MIX}
    batch: [{count: 3, mode: decode, kv_len: [5, 8, 95]}, {mode: extend, q_len: 9, prefix_len: 30}]
"""
ALL_ROWS, LISTED_ROWS = "causal: true", "selection: {topk: 3}"

PLUGIN = """
import numpy as np

class Rows:
    name = "rows"
    index_format = "req_to_token"
    reads_selection = reads_compressed_rows = True
    def supports(self, problem):
        return None if problem.compress_ratio > 0 else "compressed rows only"
    def plan(self, batch):
        return Plan(batch)

class Plan:
    def __init__(self, batch):
        self.problem = problem = batch.problem
        self.q, self.cache, self.out, self.lse, self.sinks = (
            batch.tensor(name).numpy() for name in ("q", "k_cache", "out", "lse", "sinks"))
        self.scale = np.float32(problem.scale * batch.k_scale)
        self.v_scale = np.float32(batch.v_scale)
        slots, rows = (batch.tensor(name).numpy() for name in ("req_to_token", "req_pool_indices"))
        lists = lengths = None
        if problem.topk > 0:
            lists, lengths = (batch.tensor(name).numpy() for name in ("topk_indices", "topk_length"))
        self.slots = []
        for row, q_len, kv_len in zip(rows, batch.q_lens, batch.kv_lens):
            for seen in range(kv_len - q_len + 1, kv_len + 1):
                token = len(self.slots)
                complete = seen // problem.compress_ratio
                picked = np.arange(complete)
                if lists is not None:
                    picked = lists[token, 0, :lengths[token, 0]]
                    picked = picked[(picked >= 0) & (picked < complete)]
                window = np.arange(max(seen - 1 - problem.sliding_window_size, 0), seen)
                self.slots.append(slots[row, np.concatenate([window, kv_len + picked])])

    def run(self, stream):
        for token, slots in enumerate(self.slots):
            keys = self.cache[slots // self.problem.page_size, slots % self.problem.page_size, 0]
            logits = self.q[token] @ keys.T * self.scale
            top = logits.max(axis=1, keepdims=True)
            weights = np.exp(logits - top)
            of_keys = weights.sum(axis=1, keepdims=True)
            whole = of_keys + np.exp(self.sinks[:, None] - top)
            self.out[token] = weights @ keys / whole * self.v_scale
            self.lse[token] = (top + np.log(of_keys))[:, 0]
"""


def changed(before, after):
    assert before in PLUGIN, before
    return PLUGIN.replace(before, after)


@unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
class CompressedRowsTest(unittest.TestCase):
    def verdict(self, plugin, mix=ALL_ROWS):
        _, cells, output = run_plugin(BINARY, plugin, SCENARIO.replace("MIX", mix), "--backend", "rows")
        self.assertEqual(len(cells), 1, output)
        verdict, reason = next(iter(cells.values()))
        # A busy machine makes times doubtful, not outputs.
        return "passed" if verdict == "MISTRUSTED" else verdict, reason

    def test_rows_are_found_behind_the_tokens_of_their_request(self):
        for mix in (ALL_ROWS, LISTED_ROWS):
            self.assertEqual(self.verdict(PLUGIN, mix)[0], "passed", mix)

    def test_a_plug_in_that_shows_another_row_or_forgets_the_sink_is_found(self):
        for before, after in (("kv_len + picked]", "kv_len - 1 + picked]"), ("seen // problem", "(seen - 1) // problem"),
                              ("whole = of_keys + np.exp(self.sinks[:, None] - top)", "whole = of_keys"),
                              ("- problem.sliding_window_size", "+ 1 - problem.sliding_window_size")):
            self.assertEqual(self.verdict(changed(before, after))[0], "INCORRECT", after)

    def test_a_plug_in_that_does_not_say_that_it_reads_them_gets_none(self):
        silent = changed("reads_selection = reads_compressed_rows = True", "reads_selection = True")
        self.assertIn("(reads_compressed_rows)", self.verdict(silent)[1])
        sinks_only = silent.replace('return None if problem.compress_ratio > 0 else "compressed rows only"', "return None")
        self.assertIn("no sinks beside MLA", self.verdict(sinks_only, "compress_ratio: none")[1])


if __name__ == "__main__":
    unittest.main()
