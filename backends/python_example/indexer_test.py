#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""A Python plug-in that scores keys in NumPy's float64 from the bytes that it is given: it agrees with the judge.

usage: indexer_test.py <attnbench binary>; skipped where there is no NumPy
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
defaults: {model: {heads_q: 4, heads_kv: 2, head_dim: 32}, attention: {selection: {topk: 8, index_heads: 5}}, kv_cache: {page_size: 16}}
mixes:
  chat: {batch: [{count: 2, mode: decode, kv_len: [3, 100]}, {mode: extend, q_len: 5, prefix_len: 30}]}
measure: {step: [attention, select, indexer]}
"""
POOLS = SCENARIO.replace("topk: 8", "topk: 8, unit: 4")
PLUGIN = """
import numpy as np

def e4m3(codes):
    codes = codes.astype(np.int64)
    exponent, mantissa = codes >> 3 & 15, codes & 7
    sizes = np.where(exponent == 0, mantissa * 2.0 ** -9, (8 + mantissa) * 2.0 ** (exponent - 10.0))
    sizes[(codes & 127) == 127] = np.nan
    return np.where(codes > 127, -sizes, sizes)

class Indexer:
    name = "mine"
    scores_keys = True
    def supports(self, problem):
        return None if problem.step == "indexer" else "it scores keys only"
    def plan(self, batch):
        return Plan(batch)

class Plan:
    def __init__(self, batch):
        roles = ("index_q", "index_weights", "index_cache", "row_lens", "logits", "block_table", "query_start_loc")
        (self.q, self.weights, self.cache, self.lens, self.logits, self.table,
         self.starts) = (batch.tensor(role).numpy() for role in roles)
        self.page = batch.problem.page_size // batch.problem.topk_unit  # rows: of keys, or of complete pools
        assert self.q.shape[1] == batch.problem.index_heads
    def key(self, request, position):
        page, offset = self.cache[self.table[request, position // self.page]], position % self.page
        scales = page[self.page * 128:].copy().view(np.float32)
        return e4m3(page[128 * offset:128 * (offset + 1)]), float(scales[offset])
    def run(self, stream):
        for request in range(len(self.starts) - 1):
            for token in range(self.starts[request], self.starts[request + 1]):
                q = e4m3(self.q[token])
                for position in range(self.lens[token]):
                    k, scale = self.key(request, position)
                    dots = np.maximum(q @ k, 0)
                    self.logits[token, 0, position] = scale * float(dots @ self.weights[token].astype(np.float64))
"""

# A prompt whose logits are too many for the judge to compare all of them.
PROMPT = """
defaults: {model: {heads_q: 4, heads_kv: 2, head_dim: 32}, attention: {selection: {topk: 8, index_heads: 64}}, kv_cache: {page_size: 16}}
mixes:
  new: {batch: [{mode: extend, q_len: 256, prefix_len: 144}]}
measure: {step: indexer, samples: [1, 2]}
verify: {fills: [timing]}
"""
# Right logits where a judge looks that goes by nothing but the row's number, 1 elsewhere.
FORESEEN = """
import functools
JUDGED = 2**28 // (256 * 64 * 128)
VALUES = e4m3(np.arange(256)).astype(np.float32)
def mix64(x):
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 % 2**64
    x = (x ^ x >> 27) * 0x94d049bb133111eb % 2**64
    return x ^ x >> 31
@functools.cache
def foreseen(row, seen):
    keys = {0, seen - 1}
    for part in range(JUDGED):
        begin, end = seen * part // JUDGED, seen * (part + 1) // JUDGED
        keys.add(begin + mix64((row + 0x9e3779b97f4a7c15 + part) % 2**64) % (end - begin))
    return sorted(keys)

class Prompt(Plan):
    def run(self, stream):
        seen = int(self.lens[-1])
        pages = self.cache[self.table[0, :-(-seen // self.page)]]
        keys = VALUES[pages[:, :128 * self.page]].reshape(-1, 128)[:seen]
        scales = pages[:, 128 * self.page:].copy().view(np.float32).reshape(-1)[:seen]
        for row, (q, weights) in enumerate(zip(VALUES[self.q], self.weights)):
            at = foreseen(row, int(self.lens[row]))
            self.logits[row, 0, :seen] = 1
            self.logits[row, 0, at] = weights @ np.maximum(q @ keys[at].T, 0) * scales[at]
Plan = Prompt
"""


@unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
class IndexerTest(unittest.TestCase):
    def verdict(self, old="", new="", scenario=SCENARIO, more=""):
        self.assertIn(old, PLUGIN)
        plugin = (PLUGIN.replace(old, new) if old else PLUGIN) + more
        _, cells, output = run_plugin(BINARY, plugin, scenario, "--backend", "mine", "--step", "indexer",
                                      "--sample-nonce", "1")
        self.assertIn(("mine", "indexer"), cells, output)
        return cells["mine", "indexer"]

    def test_logits_in_float64_pass(self):
        verdict, reason = self.verdict()
        self.assertIn(verdict, ("passed", "MISTRUSTED"), reason)  # a busy machine makes times doubtful

    def test_logits_of_complete_pools_pass(self):
        verdict, reason = self.verdict(scenario=POOLS)
        self.assertIn(verdict, ("passed", "MISTRUSTED"), reason)

    def test_an_indexer_that_leaves_the_newest_pool_out_is_blamed(self):
        verdict, reason = self.verdict("range(self.lens[token])", "range(self.lens[token] - 1)", POOLS)
        self.assertEqual(verdict, "INCORRECT")
        self.assertRegex(reason, r"^the logit of row 1 and pool 24 is NaN; it was not written")

    def test_an_indexer_that_scores_the_pool_behind_is_blamed(self):
        verdict, reason = self.verdict("self.key(request, position)", "self.key(request, position + 1)", POOLS)
        self.assertEqual(verdict, "INCORRECT")
        self.assertRegex(reason, r"^row 1 scores pool 0 with|^the logit of row 1 and pool 24 is NaN")

    def test_our_own_indexer_takes_part_in_such_steps_only(self):
        _, cells, output = run_plugin(BINARY, PLUGIN, SCENARIO)
        self.assertEqual({backend for backend, step in cells if step == "indexer"}, {"mine", "indexer"}, output)
        self.assertEqual({step for backend, step in cells if backend in ("mine", "indexer")}, {"indexer"}, output)

    def test_an_indexer_without_relu_is_blamed(self):
        verdict, reason = self.verdict("np.maximum(q @ k, 0)", "q @ k")
        self.assertEqual(verdict, "INCORRECT")
        self.assertRegex(reason, r"^row 0 scores key 0 with \S+; it should be \S+, give or take")

    def test_an_indexer_without_a_head_is_blamed(self):
        self.assertEqual(self.verdict("dots @ self", "dots[1:] @ self.weights[token, 1:].astype(np.float64) + 0 * dots @ self")[0],
                         "INCORRECT")

    def test_an_indexer_that_takes_the_scale_of_the_key_before_is_blamed(self):
        self.assertEqual(self.verdict("float(scales[offset])", "float(scales[offset - 1])")[0], "INCORRECT")

    def test_an_indexer_that_scores_no_newest_key_is_blamed(self):
        verdict, reason = self.verdict("range(self.lens[token])", "range(self.lens[token] - 1)")
        self.assertEqual(verdict, "INCORRECT")
        self.assertRegex(reason, r"^the logit of row 0 and key 2 is NaN; it was not written")

    def test_logits_of_an_earlier_run_are_wrong(self):
        verdict, reason = self.verdict(more=replayed("self.q[0, 0, :6]", "logits"))
        self.assertEqual(verdict, "INCORRECT", reason)
        self.assertRegex(reason, r"^row 0 scores key 0 with .* while the eager launches were timed$")

    def test_only_the_logits_that_a_row_s_number_foretells_are_not_enough(self):
        verdict, reason = self.verdict(more=FORESEEN, scenario=PROMPT)
        self.assertEqual(verdict, "INCORRECT", reason)
        self.assertRegex(reason, r"^row \d+ scores key \d+ with 1; it should be ")


if __name__ == "__main__":
    unittest.main()
