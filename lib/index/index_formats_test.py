#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""What plug-ins are given of each index format is what expand prints, and leads to the right keys.

usage: index_formats_test.py <attnbench binary>
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

BINARY = os.path.abspath(sys.argv.pop(1))
PLUGIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "testing/index_formats_plugin.py")

SCENARIO = """
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
  dtype: f32
  kv_cache: {page_size: 4, dtype: f32}
mixes:
  mixed: {batch: q9_q6s20_2q1s30_q5s5}
  decode: {batch: 3q1s70_q1s9_q1s300}
  window: {attention: {window: {keys: 7}}, batch: q9_q6s20_2q1s30}
  tree: {batch: [{count: 3, mode: target_verify, prefix_len: {uniform: [1, 90]}, tree: {topk: 3, depth: 3, tokens: 9}}]}
  latent: {model: deepseek-v3, tp: 64, kv_cache: {page_size: 64}, batch: 2q1s1000_3q1s64_q1s130_3q1s1}
  chain:
    model: deepseek-v3
    tp: 64
    kv_cache: {page_size: 64}
    batch: [{count: 3, mode: target_verify, prefix_len: {uniform: [30, 300]}, tree: {chain: 4}}]
  chunked: {attention: {chunk: 16}, batch: q9_q6s20_q40s50_2q1s30}
  dual: {attention: {dual_chunk: {chunk_size: 10, local_size: 2}}, batch: q1s3_q1s8_q1s9_q1s17_2q1s60}
  items: {batch: [{mode: extend, q_len: 30, prefix_len: 9, items: [3, 2, 4]}, {mode: extend, q_len: 9, prefix_len: 0}]}
measure: {cache: [warm], rounds: [3, 3], samples: [1, 1]}
verify: {rows: 24}
"""

# By which backends each mix has to be computed right.
READERS = {
    "mixed": ["from_csr", "from_csr_prefix", "from_varlen"],
    "decode": ["from_block_table", "from_csr", "from_kv_splits", "from_varlen"],
    "window": ["from_csr_window", "from_swa_pool"],
    "tree": ["from_draft_table", "from_tree_mask"],
    "latent": ["from_flashmla", "from_trtllm_mla"],
    "chain": ["from_flashmla", "from_trtllm_mla"],
    "chunked": ["from_local_attention"],
    "dual": ["from_dual_chunk"],
    "items": ["from_multi_item"],
}


@unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
class IndexFormatsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.scenario, results, given = (os.path.join(folder.name, name) for name in ("s.yaml", "r.json", "given"))
        with open(cls.scenario, "w") as file:
            file.write(SCENARIO)
        names = json.loads(cls.attnbench("expand", cls.scenario, "--case", "decode", "--format", "json", "--indices",
                                         ",".join(cls.formats())).stdout)["cases"][0]["indices"]
        cls.names = list(names)
        readers = sorted({name for names in READERS.values() for name in names})
        done = cls.attnbench("run", cls.scenario, "--plugin", PLUGIN, "--python", sys.executable,
                             "--backend", ",".join(readers), "--json", results, INDICES_OUT=given, INDICES=" ".join(cls.names))
        assert done.returncode == 0, done.stdout + done.stderr
        with open(results) as file:
            cls.records = json.load(file)["records"]
        with open(given) as file:
            cls.given = [json.loads(line) for line in file]

    @classmethod
    def formats(cls):
        """The names that expand's help lists."""
        text = cls.attnbench("expand", "--help").stdout.split("in these formats:")[1].split("\n\n")[0]
        words = []
        for word in text.split():
            if word.startswith("-"):
                break
            words.append(word)
        return words

    @classmethod
    def attnbench(cls, *arguments, **environment):
        return subprocess.run([BINARY, *arguments], env=dict(os.environ, OMP_NUM_THREADS="1", **environment),
                              capture_output=True, text=True, timeout=300)

    def test_each_family_of_formats_leads_to_the_right_keys(self):
        passed = {}
        for record in self.records:
            if record["verdict"] == "passed":
                passed.setdefault(record["mix"], set()).add(record["backend"])
            else:
                self.assertEqual(record["verdict"], "unsupported", record["reason"])
        self.assertEqual({mix: sorted(backends) for mix, backends in passed.items()}, READERS)

    def test_plug_ins_are_given_what_expand_prints(self):
        printed = json.loads(self.attnbench("expand", self.scenario, "--format", "json", "--indices",
                                            ",".join(self.names)).stdout)
        seen = set()
        for case in printed["cases"]:
            expected = {}
            for name, format in case["indices"].items():
                expected[name] = f"{name}: {format['why_not']}" if "why_not" in format else {
                    key: [array["dtype"], array["shape"], array["values"]] for key, array in format["arrays"].items()}
            for name in self.names:
                with self.subTest(case=case["id"], format=name):
                    self.assertIn(expected[name], [each[name] for each in self.given])
            self.assertIn(expected, self.given)
            seen.update(name for name in self.names if isinstance(expected[name], dict))
        self.assertEqual(seen, set(self.names))


if __name__ == "__main__":
    unittest.main(verbosity=2)
