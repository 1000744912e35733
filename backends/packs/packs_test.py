#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Packs whose kernels a processor can run agree with the reference; without their packages all are listed as absent.

usage: packs_test.py <attnbench binary>; what needs a package that this interpreter does not have is skipped
"""
import ast
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

BINARY = os.path.abspath(sys.argv.pop(1))
PACKS = pathlib.Path(__file__).resolve().parent

# Every mask that a dense kernel can be given, groups of equal lengths whose requests lie together and apart, each type.
MASKS = """
seed: 3
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
  dtype: f32
  kv_cache: {page_size: 4, dtype: f32}
mixes:
  f32: {batch: 3q1s9_q5s12_q1s30_2q7s7_q1s9}
  f16: {dtype: f16, kv_cache: {page_size: 4, dtype: f16}, batch: 3q1s9_q5s12_2q7s7}
  bf16: {dtype: bf16, kv_cache: {page_size: 16, dtype: bf16}, batch: 3q1s9_q5s12_2q7s7}
  window: {attention: {window: {keys: 5}}, batch: 3q1s9_q5s12_2q7s7}
  encoder: {attention: {causal: false}, batch: q5s5_2q7s7}
  encoder_window: {attention: {causal: false, window: {keys: 4}}, batch: q9s9_2q7s7}
  cross: {attention: {cross: true}, batch: [{count: 2, mode: extend, q_len: 5, kv_len: 11}]}
  tree: {batch: [{count: 3, mode: target_verify, prefix_len: [5, 9, 9], tree: {topk: 2, depth: 3, tokens: 6}}]}
  spans: {batch: [{count: 2, mode: extend, q_len: 12, prefix_len: 5, spans: [[2, 9], [11, 14], [15, 17]]}]}
  spans_window:
    attention: {window: {keys: 3}}
    batch: [{count: 2, mode: extend, q_len: 12, prefix_len: 5, spans: [[2, 9], [11, 14], [15, 17]]}]
  spans_within_window:
    attention: {window: {keys: 3}, spans: within_window}
    batch: [{count: 2, mode: extend, q_len: 12, prefix_len: 5, spans: [[2, 9], [11, 14], [15, 17]]}]
  odd_heads: {model: {heads_q: 3, heads_kv: 3, head_dim: 20}, batch: 3q1s9_q5s12}
  softcap: {attention: {softcap: 3}, batch: 3q1s9_q5s12}
  mla:
    model: {heads_q: 4, kv_lora_rank: 32, qk_rope_head_dim: 16, qk_nope_head_dim: 16, head_dim_v: 16}
    batch: 3q1s9_q5s12
measure: {cache: [cold], rounds: [2, 2], block: 1ms, samples: [1, 3]}
verify: {rows: 100}
"""

# More keys than a row has, ties, each group its own row, and rows of padding.
SELECTIONS = """
defaults: {model: {heads_q: 4, heads_kv: 2, head_dim: 32}, attention: {selection: {topk: 8, groups: kv_heads}}}
mixes:
  chat: {batch: [{count: 2, mode: decode, kv_len: [3, 400]}, {mode: extend, q_len: 5, prefix_len: 6}]}
  few: {batch: 3q1s5}
  padded: {batch: 3q1s90, padding: {requests: 4}}
measure: {step: select}
"""
ON_A_CPU = {"torch:sdpa_math_cpu": {"softcap"}, "torch:sdpa_flash_cpu": {"softcap", "mla"}}

COMPILED = ["window", "encoder_window", "tree", "softcap"]  # each takes ten seconds

DECODES = """
seed: 5
defaults: {dtype: f16, kv_cache: {page_size: 4, dtype: f16}}
mixes:
  grouped: {model: {heads_q: 8, heads_kv: 2, head_dim: 32}, batch: 3q1s9_q1s1_q1s70}
  split:
    model: {heads_q: 2, heads_kv: 2, head_dim: 16}
    kv_cache: {page_size: 16, dtype: f16, layout: HND}
    batch: q1s1100_q1s3
  single_slots:
    model: {heads_q: 4, heads_kv: 1, head_dim: 64}
    kv_cache: {page_size: 1, dtype: f16}
    batch: 2q1s66
measure: {cache: [cold], rounds: [2, 2], block: 1ms, samples: [1, 1]}
verify: {rows: 40, fills: [needle, normal, timing]}
"""
# Triton's interpreter runs its kernels on a processor, but for bf16, whose bits it multiplies as integers.
INTERPRETED = """
import os, sys
os.environ["TRITON_INTERPRET"] = "1"
sys.path.append({packs!r})
from triton_example_pack import PagedDecode

class Interpreted(PagedDecode):
    name, device, graph_support = "interpreted", "cpu", "NEVER"
backends = [Interpreted]
"""


def needs(package):
    return unittest.skipUnless(importlib.util.find_spec(package), f"{package} is not installed in {sys.executable}")


def can_interpret():
    """Triton 3.6's interpreter makes plain numbers of arrays with one element, which NumPy has given up."""
    try:
        import numpy
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return int(numpy.array([1])) == 1
    except (ImportError, TypeError):
        return False


class PacksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def attnbench(self, *arguments, python=sys.executable):
        environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
        return subprocess.run([BINARY, *arguments, "--python", python], env=environment, capture_output=True, text=True,
                              timeout=600)

    def verdicts(self, scenario, plugin, backends, *options):
        """{backend: {mix: verdict}} and the records behind them."""
        (self.folder / "s.yaml").write_text(scenario)
        results = self.folder / "r.json"
        done = self.attnbench("run", str(self.folder / "s.yaml"), "--plugin", plugin, "--backend", ",".join(backends),
                              "--json", str(results), *options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        records = json.loads(results.read_text())["records"]
        found = {}
        for record in records:
            found.setdefault(record["backend"], {})[record["mix"]] = record["verdict"]
        return found, records

    def test_files_can_be_read_by_python_3_9(self):
        for path in PACKS.glob("*.py"):
            with self.subTest(path=path.name):
                ast.parse(path.read_text(), feature_version=(3, 9))

    def test_without_their_packages_all_are_absent_with_the_command_that_gets_them(self):
        bare = self.folder / "python"  # one without any package
        bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
        bare.chmod(0o755)
        done = self.attnbench("list", "backends", "--plugin", "packs", "--format", "json", python=str(bare))
        self.assertEqual(done.returncode, 0, done.stderr)
        backends = json.loads(self.attnbench("list", "backends", "--format", "json").stdout)
        own = {backend["name"] for backend in backends}
        packed = [backend for backend in json.loads(done.stdout) if backend["name"] not in own]
        self.assertGreater(len(packed), 8)
        for backend in packed:
            with self.subTest(backend=backend["name"]):
                if backend["device"] == "cuda" and backend["absence"].startswith("built with"):
                    continue  # no package would help
                self.assertRegex(backend["absence"], r"no package \S+.* in \S+: \S+ -m pip install \S+==\S+")

    def test_kernels_that_stand_for_those_of_engines_are_backends_of_packs(self):
        table = PACKS.parents[1] / "lib/engines/engine_kernels.cpp"
        kernels = set(re.findall(r'"(\w+:\w+)"', table.read_text()))
        done = self.attnbench("list", "backends", "--plugin", "packs", "--format", "json")
        self.assertGreater(len(kernels), 5)
        self.assertLessEqual(kernels, {backend["name"] for backend in json.loads(done.stdout)})

    @needs("torch")
    def test_kernels_of_torch_agree_with_the_reference_under_every_mask(self):
        verdicts, records = self.verdicts(MASKS, "packs/torch", ON_A_CPU)
        for backend, refused in ON_A_CPU.items():
            for mix, verdict in verdicts[backend].items():
                with self.subTest(backend=backend, mix=mix):
                    self.assertEqual(verdict, "unsupported" if mix in refused else "passed")
        for record in records:
            self.assertRegex(record["packages"], r"^torch==\d")
            if record["error"]:
                self.assertIsNone(record["error"]["lse"])

    @needs("torch")
    def test_topk_of_torch_leaves_out_no_key_that_scores_higher(self):
        verdicts, _ = self.verdicts(SELECTIONS, "packs/torch", ["torch:topk_cpu"])
        self.assertEqual(verdicts, {"torch:topk_cpu": dict.fromkeys(("chat", "few", "padded"), "passed")})

    @needs("torch")
    @unittest.skipUnless(shutil.which("g++"), "torch.compile needs g++")
    def test_flex_attention_is_compiled_with_the_mask_of_the_case(self):
        cases = [word for mix in COMPILED for word in ("--case", mix)]
        verdicts, _ = self.verdicts(MASKS, "packs/torch", ["torch:flex_cpu"], *cases)
        self.assertEqual(verdicts, {"torch:flex_cpu": dict.fromkeys(COMPILED, "passed")})

    @needs("torch")
    @needs("triton")
    @unittest.skipUnless(can_interpret(), "Triton's interpreter needs an older NumPy")
    def test_the_example_in_triton_computes_what_the_reference_does(self):
        plugin = self.folder / "interpreted.py"
        plugin.write_text(INTERPRETED.format(packs=str(PACKS)))
        verdicts, _ = self.verdicts(DECODES, str(plugin), ["interpreted"])
        self.assertEqual(verdicts, {"interpreted": {"grouped": "passed", "split": "passed", "single_slots": "passed"}})

    @needs("triton")
    def test_the_example_in_triton_is_compiled_for_the_largest_tiles_of_a_gpu(self):
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
        sys.path.append(str(PACKS))
        import triton_example_kernels as kernels

        def shared_memory(kernel, types, constants):
            """Of a kernel compiled for sm_90, which needs no GPU; strides are i64."""
            types = {**dict.fromkeys(kernel.arg_names, "i64"), **types, **dict.fromkeys(constants, "constexpr")}
            source = ASTSource(kernel, types, constexprs=constants)
            return triton.compile(source, target=GPUTarget("cuda", 90, 32)).metadata.shared

        parts = {"part_ptr": "*fp32", "part_lse_ptr": "*fp32"}
        given = {**parts, "q_ptr": "*bf16", "k_ptr": "*bf16", "v_ptr": "*bf16", "scale": "fp32",
                 "block_table_ptr": "*i32", "seq_lens_ptr": "*i32"}
        for dim, keys in ((128, 64), (256, 32)):
            tile = {"PAGE": 16, "GROUP": 64, "ROWS": 64, "DIM": dim, "KEYS": keys}
            self.assertLess(shared_memory(kernels.attend_split, given, tile), 96 << 10)
        merged = {**parts, "out_ptr": "*bf16", "lse_ptr": "*fp32", "v_scale": "fp32"}
        self.assertLess(shared_memory(kernels.merge_splits, merged, {"SPLITS": 32, "DIM": 256}), 48 << 10)


if __name__ == "__main__":
    unittest.main(verbosity=2)
