#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""What the plans of engine kernels are made of, without any of their packages."""
import contextlib
import dataclasses
import importlib.util
import inspect
import os
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
import flashinfer_pack
import flashinfer_ragged
import flashinfer_wrappers
import flashinfer_xqa
import flashmla_sparse
import gated_delta_net
import vllm_delta_nets
import vllm_flashmla
import vllm_triton
from pack_problems import CHUNK, DELTA_NET, LATENT, problem


class Rows:
    """What plans of delta nets ask of a tensor whose rows are single numbers."""

    def __init__(self, *values):
        self.values = list(values)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return self.values[index]

    def clone(self):
        return Rows(*self.values)

    def unsqueeze(self, dim):
        return Rows(self)

    def index_select(self, dim, rows):
        return Rows(*(self.values[row] for row in rows.values))

    def index_fill_(self, dim, rows, value):
        for row in rows.values:
            self.values[row] = value

    def index_copy_(self, dim, rows, source):
        for row, value in zip(rows.values, source.values):
            self.values[row] = value

    def copy_(self, source):
        self.values[:] = source.values


def gathered(returns_out, slots, fresh, states):
    """A forward of GatheredStates with a rule that adds 1 to each state: what the rule was given, O and the states."""
    seen = {}

    def rule(q, k, v, **given):
        seen.update(given)
        initial = given["initial_state"] or Rows(*[0] * len(slots))
        return Rows(Rows(7)), Rows(*(value + 1 for value in initial.values))

    plan = object.__new__(gated_delta_net.GatheredStates)
    plan.q, plan.k, plan.v, plan.g, plan.beta, plan.out = (Rows(0) for _ in range(6))
    plan.torch = types.SimpleNamespace(no_grad=contextlib.nullcontext)
    plan.problem, plan.options = problem(**DELTA_NET), {"cu_seqlens": "starts"}
    plan.backend = types.SimpleNamespace(rule=rule, returns_out=returns_out)
    plan.slots, plan.fresh, plan.states = Rows(*slots), Rows(*fresh), Rows(*states)
    plan.all_fresh = len(fresh) == len(slots)
    plan.launch()
    return seen, plan.out.values, plan.states.values


class ChunkedStep:
    """A step of a chunked layer, of which attnbench has built the index format "local_attention"."""

    def __init__(self, **changed):
        import numpy
        self.problem = problem(**{**CHUNK, "attention_chunk": 8, "page_size": 4, **changed})
        self.q_tokens, self.k_scale, self.v_scale, self.q_scale, self.out_scale = 6, 1, 1, 1, 1
        self.tensor = self.reserve = None
        self.asked = []
        self.local = {"local_query_start_loc": numpy.array([0, 3, 5, 6], dtype=numpy.int32),
                      "local_seqused_k": numpy.array([8, 5, 0], dtype=numpy.int32),
                      "local_block_table": numpy.array([[7, 9], [2, 3], [-1, -1]], dtype=numpy.int32)}

    def indices(self, format, host=False):
        self.asked.append((format, host))
        return {name: engine_tools.HostArray(array) for name, array in self.local.items()}


needs_numpy = unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")


class EnginePlansTest(unittest.TestCase):
    def test_queries_that_come_apart_are_joined_ahead_of_kernels_that_take_one_tensor_alone(self):
        def ran(joins):
            calls = []
            plan = object.__new__(type("Recorded", (engine_tools.Plan,), {
                "joins_queries": joins, "launch": lambda self: calls.append("launch")}))
            plan.idle, plan.queries_apart, plan.joined = False, ("nope", "pe"), "q"
            plan.on = lambda stream: contextlib.nullcontext()
            plan.torch = types.SimpleNamespace(cat=lambda parts, dim, out: calls.append((parts, dim, out)))
            plan.run(None)
            return calls
        self.assertEqual(ran(True), [(("nope", "pe"), -1, "q"), "launch"])
        self.assertEqual(ran(False), ["launch"])

    def test_an_lse_of_no_keys_is_mended_in_recorded_plans_of_such_steps_too(self):
        def mended(**changed):
            plan = object.__new__(vllm_flashmla.FlashMlaPlan)
            plan.problem, plan.lse = problem(**{**LATENT, **changed}), mock.MagicMock()
            plan.q, plan.out = mock.MagicMock(), mock.MagicMock()
            plan.bind(types.SimpleNamespace(batch_size=2, kv_lens=[0, 9]),
                      types.SimpleNamespace(with_lse=True, operators=None, requests_of=lambda batch: 2))
            plan.give_lse("lse")
            return plan.lse.masked_fill_.called
        self.assertTrue(mended(empty_rows=True))
        self.assertTrue(mended(empty_rows=True, recorded=True))
        self.assertTrue(mended(topk=7, recorded=True))
        self.assertFalse(mended(recorded=True), "padding is nobody's query")

    def test_kernels_are_given_no_rows_behind_those_of_the_requests(self):
        class Tensor:
            def torch(self):
                return list(range(9))
        tensors = {"q": Tensor(), "q_pe": None}
        step = types.SimpleNamespace(q_lens=[1, 4, 0], tensor=tensors.get, q_tokens=9)
        self.assertEqual(engine_tools.request_rows(step, "q"), [0, 1, 2, 3, 4])
        self.assertIsNone(engine_tools.request_rows(step, "q_pe"))

    def test_outputs_in_fp8_are_stored_by_the_kernel_with_the_scale_of_values_in_theirs(self):
        def bound(**changed):
            plan = object.__new__(vllm_triton.TritonUnifiedPlan)
            plan.problem = problem(scale=0.5, **changed)
            plan.torch = types.SimpleNamespace(tensor=lambda values, device: values, float32=None)
            with mock.patch.object(vllm_triton, "reserved", lambda *parts: None):
                plan.bind(types.SimpleNamespace(k_scale=4, v_scale=0.25, out_scale=0.5), None)
            return plan.scale, plan.output_scale, plan.out_scale
        self.assertEqual(bound(), (2, None, 0.25))
        self.assertEqual(bound(out_dtype="e4m3"), (2, [2], 1))
        self.assertEqual(bound(out_dtype="e4m3", cache_dtype="e4m3"), (0.5, [0.5], 1))

    def test_outputs_in_fp8_are_written_in_e4m3_alone(self):
        unified = vllm_triton.TritonUnified()
        self.assertTrue(unified.writes_fp8_outputs)
        self.assertIsNone(unified.supports(problem(out_dtype="e4m3")))
        self.assertRegex(unified.supports(problem(out_dtype="e5m2")), "outputs in fp8 as e4m3 only")

    @needs_numpy
    def test_virtual_requests_are_chunks_that_hold_queries(self):
        step = engine_tools.with_virtual_requests(ChunkedStep())
        self.assertEqual((step.batch_size, step.q_lens, step.kv_lens), (3, [3, 2, 1], [8, 5, 0]))
        asked = step.problem
        self.assertEqual((asked.mode, asked.attention_chunk, asked.max_q_len, asked.max_kv_len), ("extend", 0, 8, 8))
        self.assertEqual(step.whole.problem.attention_chunk, 8)
        csr = {name: array.numpy().tolist() for name, array in step.indices("csr", host=True).items()}
        self.assertEqual(csr, {"qo_indptr": [0, 3, 5, 6], "kv_indptr": [0, 2, 4, 4], "kv_indices": [7, 9, 2, 3],
                               "kv_last_page_len": [4, 1, 1]})
        table = step.indices("page_table")
        self.assertEqual(table["cache_seqlens"].numpy().tolist(), [8, 5, 0])
        self.assertEqual(table["page_table"].numpy().tolist(), [[7, 9], [2, 3], [-1, -1]])
        self.assertEqual(step.indices("varlen")["cu_seqlens_q"].numpy().tolist(), [0, 3, 5, 6])
        self.assertEqual(set(step.whole.asked), {("local_attention", True), ("local_attention", False)})
        self.assertEqual(engine_tools.with_virtual_requests(ChunkedStep(mode="decode")).problem.mode, "decode")
        whole = ChunkedStep(attention_chunk=0)
        self.assertIs(engine_tools.with_virtual_requests(whole), whole)

    @needs_numpy
    def test_the_sparse_decode_is_given_the_keys_that_each_node_of_a_chain_sees(self):
        import numpy
        given = []
        plan = object.__new__(flashmla_sparse.FlashMlaSparsePlan)
        plan.numpy, plan.torch = numpy, types.SimpleNamespace(from_numpy=lambda lists: lists)
        plan.keys = types.SimpleNamespace(shape=(2, 2, 8), copy_=given.append)
        plan.schedule, plan.given = (), lambda batch, *schedule: None
        slots = numpy.array([[0] * 5, [64, 65, 66, 67, 68], [128, 129, 130, -7, -7]], dtype=numpy.int32)
        table = {"req_to_token": engine_tools.HostArray(slots),
                 "req_pool_indices": engine_tools.HostArray(numpy.array([2, 1], dtype=numpy.int32))}
        plan.prepare(types.SimpleNamespace(kv_lens=[3, 5], indices=lambda format, host: table))
        none = [-1] * 8
        lists = [[128, 129], [128, 129, 130], [64, 65, 66, 67], [64, 65, 66, 67, 68]]
        self.assertEqual(given[0].reshape(4, 8).tolist(), [(keys + none)[:8] for keys in lists])

    def test_the_dense_decode_gets_tokens_and_heads_as_rows_of_the_one_kv_head(self):
        plan = object.__new__(vllm_flashmla.FlashMlaPlan)
        plan.problem, plan.q, plan.k_cache, plan.drafts = types.SimpleNamespace(head_dim_v=512), None, None, True
        plan.operators = types.SimpleNamespace(dense_decode_fwd=types.SimpleNamespace(default=None))
        plan.logit_scale = lambda batch: 1.0
        plan.out = types.SimpleNamespace(view=lambda *shape: shape)
        names = ("cache_seqlens", "block_table", "tile_scheduler_metadata", "num_splits")
        arrays = {name: types.SimpleNamespace(torch=lambda: None) for name in names}
        plan.prepare(types.SimpleNamespace(batch_size=2, indices=lambda format: arrays))
        self.assertEqual(plan.arguments[-1], (2, 1, -1, 512))

    def test_a_plan_s_own_buffers_lie_in_its_workspace_one_behind_the_other(self):
        class Memory:
            def __init__(self, at):
                self.at = at

            def __getitem__(self, part):
                return Memory((part.start, part.stop))

            def view(self, form):
                return Memory((*self.at, form))

        @dataclasses.dataclass
        class Bytes:
            address: int = 0
            dtype: str = "bf16"
            shape: tuple = ()
            strides: tuple = ()

            def torch(self):
                asked.append((self.address, self.dtype, self.shape, self.strides))
                return Memory(())

        asked, words = [], types.SimpleNamespace(itemsize=4)
        batch = types.SimpleNamespace(tensor=lambda role: Bytes(), reserve=lambda size: 4096 + size)
        parts = engine_tools.reserved(batch, ((3, 2), words), ((100,), words))
        self.assertEqual(asked, [(4096 + 768, "u8", (768,), (1,))])
        self.assertEqual([part.at for part in parts], [(0, 24, words, (3, 2)), (256, 656, words, (100,))])

    def test_keys_are_cut_as_a_variant_says_and_not_at_all_in_graphs_of_deterministic_inference(self):
        def cut(recorded=False, **changed):
            backend = flashinfer_pack.PrefillFa2()
            vars(backend).update(changed)
            return flashinfer_wrappers.splitting(backend, problem(recorded=recorded))
        self.assertEqual(cut(), {})
        self.assertEqual(cut(split_tile=4096), {"fixed_split_size": 256})
        self.assertEqual(cut(recorded=True, split_tile=4096), {"disable_split_kv": True})
        self.assertEqual(cut(disable_split_kv=1), {"disable_split_kv": True})
        odd = flashinfer_pack.PrefillFa2()
        odd.split_tile = 1000
        self.assertRegex(odd.supports(problem(**CHUNK)), "a piece of 1000 keys is no whole number of pages of 16")

    def test_a_plan_of_flashinfer_says_what_auto_became(self):
        for backend, resolved in ((flashinfer_pack.DecodeAuto, "fa3"), (flashinfer_ragged.Ragged, "fa3"),
                                  (flashinfer_pack.PrefillFa2, "")):
            plan = object.__new__(backend.plans)
            plan.backend, plan.wrapper = backend(), types.SimpleNamespace(_backend="fa3")
            self.assertEqual(plan.resolved, resolved, backend.name)

    def test_each_node_of_a_chain_sees_those_before_it_in_masks_of_bits(self):
        plan = object.__new__(flashinfer_xqa.XqaPlan)
        plan.torch = types.SimpleNamespace(tensor=lambda values, **given: values, uint16=None)
        self.assertEqual(plan.causal_mask(2, 3), [[[1, 0], [3, 0], [7, 0]]] * 2)
        rows = plan.causal_mask(1, 33)[0]
        self.assertEqual((rows[15], rows[16]), ([0xffff, 0, 0, 0], [0xffff, 1, 0, 0]))
        self.assertEqual(rows[32], [0xffff, 0xffff, 1, 0])

    def test_states_are_gathered_by_slot_zeroed_where_fresh_and_scattered_back(self):
        poison = -1000
        given, out, after = gathered(True, slots=[3, 1, 4], fresh=[1], states=[poison, poison, 20, 30, 40])
        self.assertEqual(given["initial_state"].values, [30, 0, 40])
        self.assertEqual((out, after), ([7], [poison, 1, 20, 31, 41]))
        self.assertEqual((given["scale"], given["cu_seqlens"]), (0.1, "starts"))
        self.assertTrue(given["output_final_state"] and given["use_qk_l2norm_in_kernel"])
        given, out, after = gathered(False, slots=[2, 1], fresh=[0, 1], states=[poison, poison, poison])
        self.assertIsNone(given["initial_state"])
        self.assertEqual((out, after), ([0], [poison, 1, 1]))
        given, _, _ = gathered(True, slots=[1], fresh=[], states=[poison, 5])
        self.assertEqual(given["initial_state"].values, [5])

    def test_chunks_of_the_delta_rule_are_listed_from_lengths_on_the_host(self):
        chunks, before = gated_delta_net.chunks_of([1, 0, 64, 65])
        self.assertEqual(chunks, [(0, 0), (2, 0), (3, 0), (3, 1)])
        self.assertEqual(before, [0, 1, 1, 2, 4])

    def test_a_decode_on_the_pool_zeroes_first_tokens_and_is_not_recorded_with_them(self):
        plan = object.__new__(vllm_delta_nets.DeltaNetDecodePlan)
        launched = []
        plan.kernel, plan.options = lambda **given: launched.append(given), {"H": 16}
        plan.states, plan.fresh = Rows(1, 2, 3), Rows(2)
        plan.launch()
        self.assertEqual((plan.states.values, launched), ([1, 2, 0], [{"H": 16}]))
        self.assertFalse(plan.update(types.SimpleNamespace(q_lens=[1, 1], kv_lens=[5, 1]), None))

    def test_a_draft_that_begins_with_nothing_leaves_the_pool_as_it_is(self):
        plan = object.__new__(vllm_delta_nets.DeltaNetVerifyPlan)
        launched = []
        plan.kernel, plan.states, plan.fresh = lambda **given: launched.append(given["h0"].values), Rows(1, 2, 3), ()
        plan.options = {"h0": plan.states}
        plan.launch()
        plan.fresh = Rows(2)
        plan.launch()
        self.assertEqual((plan.states.values, launched), ([1, 2, 3], [[1, 2, 3], [1, 2, 0]]))
        self.assertFalse(plan.update(types.SimpleNamespace(q_lens=[4, 4], kv_lens=[9, 4]), None))

    def test_windows_of_layers_without_causality_reach_as_far_ahead_as_back(self):
        for causal, cross, window, ahead in ((True, False, 9, 0), (False, False, 9, 9), (False, False, -1, -1),
                                             (True, False, -1, -1), (False, True, 9, -1)):
            layer = problem(causal=causal, is_cross_attention=cross, sliding_window_size=window)
            self.assertEqual(engine_tools.window_of(layer), (-1 if cross else window, ahead))

    def test_a_module_is_imported_without_its_package_being_started(self):
        with tempfile.TemporaryDirectory() as folder:
            files = {"engine_x/__init__.py": "raise RuntimeError('started')", "engine_x/ops/__init__.py": "",
                     "engine_x/ops/kernel.py": "from engine_x.platform import units\nFOUND = units()"}
            for path, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
                with open(os.path.join(folder, path), "w") as file:
                    file.write(text)
            sys.path.insert(0, folder)
            try:
                module = engine_packages.import_bare("engine_x.ops.kernel", ["engine_x"],
                                                  {"engine_x.platform": {"units": lambda: 132}})
                self.assertEqual(module.FOUND, 132)
                spec = engine_packages.importlib.util.find_spec("engine_x")  # a bare package is still found by others
                self.assertEqual(list(spec.submodule_search_locations), [os.path.join(folder, "engine_x")])
            finally:
                sys.path.remove(folder)

    def test_a_function_is_taken_out_of_a_module_that_cannot_be_imported(self):
        text = """import engine_that_is_not_here

@wrap
def kernel(x):
    return x + more

def other():
    pass
"""
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "engine_y"))
            for name, contents in (("__init__.py", ""), ("big.py", text)):
                with open(os.path.join(folder, "engine_y", name), "w") as file:
                    file.write(contents)
            sys.path.insert(0, folder)
            try:
                functions = engine_packages.Functions(("engine_y.gone", "engine_y.big"), alone=True)
                kernel = functions.take("kernel", wrap=lambda function: function, more=3)
                self.assertEqual(kernel(4), 7)
                self.assertEqual(kernel.__module__, "engine_y.big")
                self.assertIn("return x + more", inspect.getsource(kernel))  # as Triton reads it
                with self.assertRaisesRegex(ImportError, "engine_y.big has no gone"):
                    functions.take("gone")
            finally:
                sys.path.remove(folder)

    def test_an_operator_of_another_version_is_told_by_its_arguments(self):
        def argument(name, kind="IntType", default=None):
            of_kind = types.SimpleNamespace(kind=lambda: kind)
            return types.SimpleNamespace(name=name, default_value=default, type=of_kind,
                                         has_default_value=lambda: default is not None)
        arguments = [argument("q"), argument("mask", "OptionalType"), argument("n", default=7)]
        operator = types.SimpleNamespace(_schema=types.SimpleNamespace(arguments=arguments))
        self.assertEqual(engine_packages.arguments_of(operator, q=1), [1, None, 7])
        with self.assertRaisesRegex(TypeError, "has no argument window"):
            engine_packages.arguments_of(operator, q=1, window=3)
        with self.assertRaisesRegex(TypeError, "needs q, too"):
            engine_packages.arguments_of(operator, mask=3)


if __name__ == "__main__":
    unittest.main()
