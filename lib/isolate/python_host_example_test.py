#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""The example of a Python plug-in, run by python_host.py, against plain float64.

usage: python_host_example_test.py [unittest's arguments]; skipped where there is no NumPy
"""
import ctypes
import math
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "testing"))
sys.dont_write_bytecode = True

from c_side import EXAMPLE, CBatch, HostTest, c_problem, c_tensor, dense, host, mirror, needs_numpy, numpy


@needs_numpy
class ExampleTest(HostTest):
    """backends/python_example against plain float64."""

    def judge(self, dtype, cache_dtype, layout):
        rng = numpy.random.default_rng(5)
        heads_q, heads_kv, dim, page_size, pages = 6, 2, 8, 4, 12
        q_lens, kv_lens = [1, 5, 3], [9, 5, 14]
        tokens, k_scale, v_scale, scale = sum(q_lens), 2.0, 0.5, 0.3

        def rounded(values, kind):
            """The values as memory of that type, and what they then are."""
            if kind != "bf16":
                stored = values.astype({"f32": "float32", "f16": "float16"}[kind])
                return stored, stored.astype("float64")
            stored = (values.astype("float32").view("uint32") >> 16).astype("uint16")
            return stored, (stored.astype("uint32") << 16).view("float32").astype("float64")

        q_stored, q = rounded(rng.normal(size=(tokens, heads_q, dim)), dtype)
        shape = (pages, page_size, heads_kv, dim) if layout == "NHD" else (pages, heads_kv, page_size, dim)
        strides = dense(shape) if layout == "NHD" else [dense(shape)[d] for d in (0, 2, 1, 3)]
        caches = [rounded(rng.normal(size=shape), cache_dtype) for _ in range(2)]
        k, v = (values if layout == "NHD" else values.transpose(0, 2, 1, 3) for _, values in caches)
        k, v = (values.reshape(-1, heads_kv, dim) for values in (k, v))  # by slot
        out = numpy.full((tokens, heads_q, dim), 7, q_stored.dtype)
        lse = numpy.full((tokens, heads_q), numpy.nan, "float32")
        table = numpy.full((5, 20), -1, "int32")
        rows = numpy.array([3, 0, 4], "int32")
        free = random.Random(1).sample(range(pages), pages)
        for row, kv_len in zip(rows, kv_lens):
            slots = [page * page_size + i for page in (free.pop() for _ in range(-(-kv_len // page_size)))
                     for i in range(page_size)]
            table[row, :kv_len] = slots[:kv_len]
        arrays = {"q": (q_stored, dtype), "out": (out, dtype), "lse": (lse, "f32"), "req_to_token": (table, "i32"),
                  "req_pool_indices": (rows, "i32")}
        held = {role: (ctypes.c_char * array.nbytes).from_buffer(array) for role, (array, _) in arrays.items()}
        tensors = {role: c_tensor(held[role], kind, array.shape) for role, (array, kind) in arrays.items()}
        for role, (stored, _) in zip(("k_cache", "v_cache"), caches):
            held[role] = (ctypes.c_char * stored.nbytes).from_buffer(stored)
            tensors[role] = c_tensor(held[role], cache_dtype, (pages, page_size, heads_kv, dim), strides)
        problem = c_problem(heads_q=heads_q, heads_kv=heads_kv, head_dim_qk=dim, head_dim_v=dim, scale=scale,
                            mode="mixed", dtype=dtype, cache_dtype=cache_dtype, cache_layout=layout,
                            page_size=page_size)
        handle = self.planned(self.table, CBatch(problem, q_lens, kv_lens, tensors))
        for _ in range(2):
            out[...] = 7
            self.assertEqual(self.call(self.table.run, handle, 0), (mirror.OK, ""))
        self.table.destroy(handle)

        got = out.astype("float64") if dtype != "bf16" else (out.astype("uint32") << 16).view("float32")
        token = 0
        for row, q_len, kv_len in zip(rows, q_lens, kv_lens):
            for i in range(q_len):
                seen = table[row, :kv_len - q_len + i + 1]
                for head in range(heads_q):
                    logits = k[seen, head // 3] @ q[token, head] * scale * k_scale
                    weights = numpy.exp(logits)
                    expected = weights @ v[seen, head // 3] / weights.sum() * v_scale
                    half_unit = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}[dtype]  # of a number like 1
                    error = numpy.abs(got[token, head] - expected) - half_unit * numpy.abs(expected)
                    self.assertLess(error.max(), 1e-6)
                    self.assertAlmostEqual(lse[token, head], math.log(weights.sum()), places=5)
                token += 1

    def setUp(self):
        super().setUp()
        self.tables_alive = host.Tables([str(EXAMPLE)], host.load(str(EXAMPLE)))
        self.table = self.tables_alive.array[0]

    def test_it_agrees_in_every_type_and_layout(self):
        for dtype, cache_dtype, layout in (("f32", "f32", "NHD"), ("f32", "f32", "HND"), ("bf16", "bf16", "HND"),
                                           ("f16", "f16", "NHD"), ("bf16", "f16", "NHD"), ("f16", "bf16", "HND")):
            with self.subTest(dtype=dtype, cache_dtype=cache_dtype, layout=layout):
                self.judge(dtype, cache_dtype, layout)

    def test_it_refuses_the_rest_with_a_reason(self):
        self.assertEqual(self.supports(self.table), (mirror.OK, ""))
        for change, word in ((dict(family="latent"), "MLA"), (dict(mode="target_verify"), "trees"),
                             (dict(sliding_window_size=0), "window"), (dict(logit_cap=30.0), "softcap"),
                             (dict(has_sinks=1), "sinks"), (dict(has_alibi=1), "ALiBi"), (dict(causal=0), "causal"),
                             (dict(is_cross_attention=1), "self"), (dict(cache_dtype="e4m3"), "f32"),
                             (dict(dtype="e5m2"), "f32")):
            status, reason = self.supports(self.table, **change)
            self.assertEqual(status, mirror.UNSUPPORTED)
            self.assertIn(word, reason)

    def test_a_batch_without_requests_is_planned_and_run(self):
        tensors = {}
        for role, shape in (("q", (0, 2, 4)), ("out", (0, 2, 4)), ("lse", (0, 2)), ("req_pool_indices", (0,)),
                            ("k_cache", (0, 2, 1, 4)), ("v_cache", (0, 2, 1, 4)), ("req_to_token", (0, 3))):
            tensors[role] = mirror.TensorStruct(rank=len(shape), dtype=mirror.DTYPES.index("f32"))
            tensors[role].shape[:len(shape)] = shape
        handle = self.planned(self.table, CBatch(c_problem(mode="idle"), [], [], tensors))
        self.assertEqual(self.call(self.table.run, handle, 0), (mirror.OK, ""))

    def test_bf16_rounds_to_nearest_even_and_keeps_what_is_no_number(self):
        module = sys.modules["attnbench_plugin"]
        bits = [0x3F800000, 0x3F808000, 0x3F818000, 0x3F808001, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0x80000000]
        stored = numpy.zeros(len(bits), "uint16")
        module.store(stored, numpy.array(bits, "uint32").view("float32"))
        self.assertEqual([hex(b) for b in stored],
                         [hex(b) for b in (0x3F80, 0x3F80, 0x3F82, 0x3F81, 0x7F80, 0xFF80, 0x7F80, 0x8000)])
        for nan in (0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001):
            module.store(stored, numpy.full(len(bits), nan, "uint32").view("float32"))
            self.assertTrue(numpy.isnan(module.to_f32(stored)).all())


if __name__ == "__main__":
    unittest.main()
