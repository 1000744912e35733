#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""How packs find what they call, and what they give it, without any of their packages."""
import importlib.util
import os
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "testing")]
sys.dont_write_bytecode = True

import engine_packages
import engine_tools
import fa4_pack
import flashinfer_pack
import vllm_cascade
import vllm_composite
from pack_problems import CHUNK, problem

needs_numpy = unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")


class Array:
    """An index array on either side."""

    def __init__(self, *values):
        import numpy
        self.values = numpy.array(values, dtype=numpy.int32)

    def numpy(self):
        return self.values

    torch = numpy


class FindingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "engine_y"
        (self.folder / "new").mkdir(parents=True)
        (self.folder / "__init__.py").write_text("raise RuntimeError('started')")
        sys.path.insert(0, folder.name)
        self.addCleanup(sys.path.remove, folder.name)

    def test_operators_are_found_in_whichever_shared_objects_are_there(self):
        loaded, operators = [], types.SimpleNamespace(fwd=1)
        torch = types.SimpleNamespace(ops=types.SimpleNamespace(load_library=loaded.append, _Y=operators))
        library = engine_packages.Library("engine_y", "_Y", ("stable.so", "old.so"))
        with mock.patch.dict(sys.modules, torch=torch):
            with self.assertRaisesRegex(ImportError, "engine_y has no stable.so and no old.so"):
                library.load("fwd")
            (self.folder / "old.so").touch()
            self.assertIs(library.load("fwd"), operators)
            self.assertEqual(loaded, [str(self.folder / "old.so")])
            with self.assertRaisesRegex(ImportError, "this version of engine_y has no operator _Y.bwd"):
                library.load("fwd", "bwd")

    def test_functions_are_found_where_the_version_has_them_the_newest_place_first(self):
        functions = engine_packages.Functions(("engine_y.new.kernel", "engine_y.kernel"))
        with self.assertRaisesRegex(ImportError, "no module engine_y.new.kernel and no engine_y.kernel"):
            functions.name()
        (self.folder / "kernel.py").touch()
        self.assertEqual(functions.name(), "engine_y.kernel")
        (self.folder / "new/kernel.py").touch()
        self.assertEqual(functions.name(), "engine_y.new.kernel")

    def test_arguments_that_only_some_versions_have_are_given_to_those(self):
        self.assertEqual(engine_packages.accepted(lambda q, sinks=None: None, sinks=1, window=2), {"sinks": 1})
        kinds = types.SimpleNamespace(kind=lambda: "IntType")
        q = types.SimpleNamespace(name="q", default_value=None, type=kinds, has_default_value=lambda: False)
        operator = types.SimpleNamespace(_schema=types.SimpleNamespace(arguments=[q]))
        self.assertEqual(engine_packages.arguments_of(operator, {"q": 2, "new": 1}), [2])


class GivenTest(unittest.TestCase):
    def test_slopes_of_alibi_are_those_of_the_whole_model(self):
        slopes = engine_tools.alibi_slopes
        self.assertEqual(slopes(problem(heads_q=4)), [2 ** -2, 2 ** -4, 2 ** -6, 2 ** -8])
        self.assertEqual(slopes(problem(heads_q=6)), [2 ** -2, 2 ** -4, 2 ** -6, 2 ** -8, 2 ** -1, 2 ** -3])
        self.assertEqual(slopes(problem(heads_q=2, ranks=2)), [2 ** -2, 2 ** -4])

    @needs_numpy
    def test_pages_are_shared_up_to_the_first_that_differs_or_holds_new_keys(self):
        step = types.SimpleNamespace(problem=problem(page_size=4), q_lens=[1, 2], kv_lens=[13, 12])
        starts, pages = [0, 4, 7], Array(5, 6, 7, 8, 5, 6, 9).values
        self.assertEqual(engine_tools.shared_pages(step, starts, pages), 2)
        step.kv_lens = [13, 9]
        self.assertEqual(engine_tools.shared_pages(step, starts, pages), 1)
        self.assertEqual(engine_tools.shared_pages(step, starts, Array(5, 6, 7, 8, 4, 6, 9).values), 0)

    @needs_numpy
    def test_a_cascade_counts_sinks_once_and_its_lengths_from_behind_the_prefix(self):
        import numpy
        torch = types.SimpleNamespace(tensor=lambda values, **given: numpy.array(values), int32=None,
                                      full_like=lambda array, value: numpy.full_like(array, value))
        sinks = types.SimpleNamespace(bfloat16=lambda: "sinks")
        arrays = {"csr": {"kv_indptr": Array(0, 3, 6), "kv_indices": Array(5, 6, 7, 5, 6, 9)},
                  "page_table": {"page_table": Array([5, 6, 7], [5, 6, 9])}, "varlen": {"cu_seqlens_q": Array(0, 1, 2)}}

        def calls(kv_lens):
            plan = object.__new__(vllm_cascade.CascadePlan)
            plan.torch, plan.problem, plan.sinks = torch, problem(page_size=4, has_sinks=True), sinks
            plan.out, plan.prefix_out, plan.own_out = "out", "prefix", "own"
            plan.call = lambda batch, requests, **given: given
            plan.prepare(types.SimpleNamespace(problem=plan.problem, q_lens=[1, 1], kv_lens=kv_lens, batch_size=2,
                                               indices=lambda format, host=False: arrays[format]))
            return plan.prefix, plan.own
        prefix, own = calls([12, 10])
        self.assertEqual((prefix["s_aux"], prefix["is_causal"], prefix["max_seqlen_k"]), ("sinks", False, 8))
        self.assertEqual((prefix["cu_seqlens_q"].tolist(), prefix["seqused_k"].tolist()), ([0, 2], [8]))
        self.assertEqual((own["seqused_k"].tolist(), own["max_seqlen_k"], own["is_causal"]), ([4, 2], 4, True))
        self.assertEqual(own["page_table"].tolist(), [[7], [9]])
        self.assertNotIn("s_aux", own)
        prefix, own = calls([4, 3])
        self.assertIsNone(prefix)
        self.assertEqual((own["s_aux"], own["out"], own["seqused_k"].tolist()), ("sinks", "out", [4, 3]))

    def test_flash_attention_4_is_given_causality_or_a_right_edge(self):
        def options(**changed):
            asked = problem(**changed)
            plan = object.__new__(fa4_pack.ForwardPlan)
            plan.problem, plan.torch, plan.causal = asked, None, asked.causal
            plan.window, plan.window_ahead = engine_tools.window_of(asked)
            plan.bind(None, types.SimpleNamespace(forward=None, with_lse=False, num_splits=1))
            return tuple(plan.options[name] for name in ("causal", "window_size_left", "window_size_right"))
        self.assertEqual(options(), (True, None, None))
        self.assertEqual(options(sliding_window_size=9), (True, 9, None))
        self.assertEqual(options(sliding_window_size=9, causal=False), (False, 9, 9))
        self.assertEqual(options(causal=False), (False, None, None))

    def test_only_a_recorded_decode_is_planned_again_the_fast_way(self):
        made = []

        def planned(recorded):
            plan = object.__new__(flashinfer_pack.FastPlan)
            plan.problem = problem(recorded=recorded)
            with mock.patch.object(flashinfer_pack.DecodePlan, "prepare", lambda self, batch: made.append("plan")):
                plan.prepare(None)
            return plan.planned
        self.assertEqual((planned(False), planned(True), made), (False, True, ["plan", "plan"]))

    def test_copies_of_flash_attention_4_differ_in_what_they_take_on_hopper(self):
        vllm, upstream = fa4_pack.Vllm(), fa4_pack.FlashAttn()
        dim_512 = dict(head_dim_qk=512, head_dim_v=512)
        for changed, reason in (({**dim_512, "cache_dtype": "e4m3", "page_size": 64}, "no fp8 on Hopper"),
                                (dim_512, "head dims of 8 to 256")):
            self.assertIsNone(vllm.supports(problem(**{**CHUNK, **changed})))
            self.assertRegex(upstream.supports(problem(**{**CHUNK, **changed})), reason)
        self.assertEqual((vllm.num_splits, upstream.num_splits, upstream.__class__.__dict__.get("tuning")), (0, 1, None))

    def test_flash_attention_4_names_the_head_dims_and_pages_for_which_it_compiles(self):
        for changed, reason in (
                (dict(head_dim_qk=320, head_dim_v=320), "or of 512"),
                (dict(head_dim_qk=72, head_dim_v=72), "multiples of 16"),
                (dict(head_dim_qk=72, head_dim_v=72, cache_layout="ragged"), None),
                (dict(cache_dtype="e4m3", page_size=128), "head dim 512 in pages of 64 only"),
                (dict(cache_dtype="e4m3", head_dim_qk=512, head_dim_v=512), "head dim 512 in pages of 64 only")):
            found = fa4_pack.Vllm().supports(problem(**{**CHUNK, **changed}))
            self.assertRegex(found or "", reason or "^$", changed)


class Taken:
    """A backend of which only is known that it was asked for a plan, or why it cannot be loaded."""
    kernel, fault = "attend", None

    def load(self):
        if self.fault:
            raise ImportError(self.fault)

    def supports(self, problem):
        return None

    def plan(self, batch):
        return types.SimpleNamespace(of=self)


@needs_numpy
class CompositeTest(unittest.TestCase):
    def setUp(self):
        small, wide = type("Small", (Taken,), {}), type("Wide", (Taken,), {"fault": "no DSL"})
        self.backend = type("Composite", (vllm_composite.TritonFlashAttn,), {"causal": {256: small, 512: wide}})()
        self.backend.triton = Taken()

    def kernel_of(self, *requests, spans=True):
        """requests: (the spans of its queries' tokens, how many keys it has)."""
        rows = Array(*(span for tokens, _ in requests for span in tokens))
        plan = self.backend.plan(types.SimpleNamespace(
            problem=problem(**CHUNK, head_dim_qk=256, head_dim_v=256, spans=spans), tensor={"spans": rows}.get,
            q_lens=[len(tokens) for tokens, _ in requests], kv_lens=[kv_len for _, kv_len in requests]))
        self.assertEqual(plan.resolved, "attend")
        return "triton" if plan.of is self.backend.triton else "causal"

    def test_a_step_takes_triton_where_one_query_sees_a_key_behind_its_own(self):
        text, image = [(0, 0)] * 4, [(6, 8), (6, 8), (0, 0), (0, 0)]
        self.assertEqual(self.kernel_of((image, 10)), "triton")
        self.assertEqual(self.kernel_of((text, 10), (image, 10)), "triton")
        self.assertEqual(self.kernel_of((text, 10), (text, 9)), "causal")
        self.assertEqual(self.kernel_of((text, 10), spans=False), "causal")

    def test_images_that_end_with_a_query_or_go_on_in_the_next_chunk_are_causal(self):
        self.assertEqual(self.kernel_of(([(3, 7), (0, 0), (0, 0), (0, 0)], 10)), "causal")
        self.assertEqual(self.kernel_of(([(0, 0), (0, 0), (0, 0), (9, 20)], 10)), "causal")
        self.assertEqual(self.kernel_of(([(0, 0), (0, 0), (8, 20), (8, 20)], 10)), "triton")
        self.assertEqual(self.kernel_of(([(4, 20)], 5)), "causal")

    def test_a_kernel_that_does_not_load_costs_its_own_head_dim(self):
        with mock.patch.object(engine_packages.Functions, "name"):
            self.backend.load()
            asked = {dim: self.backend.supports(problem(head_dim_qk=dim, head_dim_v=dim)) for dim in (128, 256, 512)}
            self.assertEqual(asked, {128: "head dims of 256 and 512 only", 256: None, 512: "no attend: no DSL"})
            self.backend.by_dim[256].fault = "no sm_90"
            with self.assertRaisesRegex(RuntimeError, "no attend: no sm_90"):
                self.backend.load()

    def test_neither_fp8_caches_nor_graphs_of_windows_are_taken(self):
        for changed, reason in ((dict(cache_dtype="e4m3"), "a cache of the queries' type"),
                                (dict(recorded=True, sliding_window_size=9), "no graphs of layers with a window")):
            self.assertRegex(self.backend.supports(problem(head_dim_qk=256, head_dim_v=256, **changed)), reason)

    def test_it_names_formats_for_every_head_dim_so_that_it_says_why_it_takes_none(self):
        self.backend.triton.formats = lambda problem: ["NHD", "HND"]
        self.backend.by_dim[256].formats = lambda problem: ["HND"]
        for dim, formats in ((128, ["NHD", "HND"]), (256, ["HND"])):
            self.assertEqual(self.backend.formats(problem(head_dim_qk=dim)), formats)


if __name__ == "__main__":
    unittest.main()
