#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""What engines' kernels of chosen keys take, and what they are given, without any of their packages."""
import contextlib
import importlib.util
import os
import pathlib
import sys
import types
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "testing")]
sys.dont_write_bytecode = True

import chosen_rows
import flashinfer_pack
import flashinfer_sparse_mla
import flashmla_pack
import flashmla_sparse
import flashmla_sparse_prefill
import vllm_fa3_sparse
import vllm_pack
import vllm_topk
from pack_problems import BLOCKS, CHAIN, CHUNK, LATENT, TREE, problem

BACKENDS = {cls.name: cls() for pack in (flashinfer_pack, flashmla_pack, vllm_pack) for cls in pack.backends}

CHOSEN = {**LATENT, "topk": 300}
ROWS = {**CHOSEN, **BLOCKS}
BF16 = "vllm:flashmla_sparse_prefill vllm:fa3_mla_sparse flashinfer:sparse_mla flashmla:sgl_sparse_prefill"

# Who takes which layer of chosen keys: all others refuse it.
TAKEN = [
    (ROWS, "vllm:flashmla_sparse flashmla:sgl_sparse"),
    ({**ROWS, **CHAIN}, "vllm:flashmla_sparse flashmla:sgl_sparse"),
    ({**ROWS, **TREE}, ""),
    ({**ROWS, **CHUNK}, "vllm:flashmla_sparse flashmla:sgl_sparse"),
    ({**ROWS, **CHUNK, "heads_q": 32}, "flashmla:sgl_sparse"),
    ({**ROWS, **CHAIN, "heads_q": 32}, "vllm:flashmla_sparse flashmla:sgl_sparse"),
    ({**ROWS, **CHUNK, "max_q_tokens": 20000}, "vllm:flashmla_sparse"),
    ({**ROWS, **CHUNK, "max_q_tokens": 70000}, ""),
    ({**ROWS, "heads_q": 192}, ""),
    ({**ROWS, "topk_unit": 16}, ""),
    ({**ROWS, "topk_groups": 2}, ""),
    ({**ROWS, "topk_length_counts": True, "topk_repeats": True}, "vllm:flashmla_sparse flashmla:sgl_sparse"),
    ({**ROWS, "page_size": 16}, ""),
    ({**ROWS, "has_sinks": True}, ""),
    (CHOSEN, BF16),
    ({**CHOSEN, **CHUNK}, BF16),
    ({**CHOSEN, **CHUNK, "mode": "mixed", "heads_q": 128, "page_size": 16}, BF16),
    ({**CHOSEN, **CHAIN, "topk_length_counts": True, "topk_repeats": True}, BF16),
    ({**CHOSEN, **TREE}, ""),
    ({**CHOSEN, "topk_unit": 16}, ""),
    ({**CHOSEN, "topk_groups": 2}, ""),
    ({**CHOSEN, "heads_q": 192}, "vllm:fa3_mla_sparse flashinfer:sparse_mla"),
    ({**CHOSEN, "dtype": "f16", "cache_dtype": "f16"}, "vllm:fa3_mla_sparse flashinfer:sparse_mla"),
    ({**CHOSEN, "cache_dtype": "e4m3"}, "flashinfer:sparse_mla"),
    ({**CHOSEN, "cache_dtype": "e4m3", "dtype": "f16"}, ""),
    ({**CHOSEN, "head_dim_qk": 512}, ""),
    (LATENT, ""),
    (dict(topk=64), ""),
]

# Who selects which keys, of decodes unless said otherwise.
SELECT = dict(step="select", topk=2048, max_q_tokens=64)
ANY, EXACT = "vllm:top_k_per_row", "vllm:top_k_per_row vllm:persistent_topk"
SELECTED = [
    (SELECT, f"{EXACT} vllm:cooperative_topk"),
    ({**SELECT, "topk": 512, "topk_unit": 16}, f"{EXACT} vllm:cooperative_topk"),
    ({**SELECT, **LATENT, **CHUNK, "max_q_tokens": 65}, EXACT),
    ({**SELECT, "topk": 24}, ANY),
    ({**SELECT, "topk": 4096}, ""),
    ({**SELECT, "topk_groups": 8}, ""),
    ({**SELECT, "step": "attention"}, ""),
    ({**SELECT, "step": "index"}, ""),
]

needs_numpy = unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")


def arguments_in(snapshot, operator):
    """The arguments of an operator as a snapshot has them, like those of torch's schema."""
    lines = pathlib.Path(HERE, "schemas", f"{snapshot}.txt").read_text().splitlines()
    schema = lines[lines.index(operator) + 2].strip()
    found = []
    for written in schema[1:schema.index(") ->")].split(", "):
        kind, name = written.split("=")[0].rsplit(" ", 1)
        found.append(types.SimpleNamespace(
            name=name, default_value=None, has_default_value=lambda written=written: "=" in written,
            type=types.SimpleNamespace(kind=lambda kind=kind: "OptionalType" if kind.endswith("?") else kind)))
    return found


def named(snapshot, operator, arguments):
    """Arguments given by place, under their names."""
    names = [argument.name for argument in arguments_in(snapshot, operator)]
    assert len(arguments) <= len(names), (operator, names)
    return dict(zip(names, arguments))


def step(lists, lengths, q_lens):
    """A batch whose requests have pages of 4 keys, with the lists of its tokens and of padding."""
    import numpy
    table = [[3, 7], [9, -1], [5, 2]][:len(q_lens)]
    arrays = {"topk_indices": numpy.array(lists, numpy.int32)[:, None], "topk_length": numpy.array(lengths)[:, None],
              "block_table": numpy.array(table, numpy.int32)}
    return types.SimpleNamespace(
        problem=problem(page_size=4, topk=len(lists[0])), q_lens=q_lens, batch_size=len(q_lens),
        tensor=lambda role: types.SimpleNamespace(torch=lambda: arrays[role]))


def rows(batch):
    """ChosenRows of a batch, by NumPy."""
    import numpy
    made = object.__new__(chosen_rows.ChosenRows)
    made.where, made.take, made.page_size = numpy.where, numpy.take_along_axis, 4
    made.columns = numpy.arange(batch.problem.topk)
    made.requests = numpy.repeat(numpy.arange(batch.batch_size), batch.q_lens)
    return made


class TakenTest(unittest.TestCase):
    def test_every_layer_of_chosen_keys_is_taken_by_those_whose_kernels_can(self):
        for changed, names in TAKEN:
            with self.subTest(changed):
                taken = {name for name, backend in BACKENDS.items() if getattr(backend, "reads_selection", False)
                         and backend.supports(problem(**changed)) is None}
                self.assertEqual(set(names.split()), {name for name in taken if not name.endswith(":lse")})
                self.assertEqual({f"{name}:lse" for name in names.split()}, {name for name in taken if name.endswith(":lse")})

    def test_keys_are_selected_by_those_whose_kernels_can(self):
        selectors = {name: backend for name, backend in BACKENDS.items() if getattr(backend, "selects_keys", False)}
        for changed, names in SELECTED:
            with self.subTest(changed):
                self.assertEqual(set(names.split()), {name for name, backend in selectors.items()
                                                      if backend.supports(problem(**changed)) is None})
        self.assertEqual([name for name, backend in selectors.items() if "NHD" not in getattr(backend, "formats", ())], [])

    def test_a_step_is_cut_into_the_requests_of_each_engine(self):
        batch = types.SimpleNamespace(batch_size=3, q_lens=[4, 4, 4])

        def requests(name, **changed):
            batch.problem = problem(**changed)
            return BACKENDS[name].requests_of(batch)
        self.assertEqual([requests("vllm:flashmla_sparse", **ROWS, **changed) for changed in ({}, CHAIN)], [1, 1])
        self.assertEqual(requests("vllm:flashmla_sparse", **{**ROWS, "heads_q": 32}), 3)
        self.assertEqual(requests("vllm:flashmla_sparse", **LATENT), 3)
        self.assertEqual(requests("flashmla:sgl_sparse", **ROWS), 12)
        self.assertEqual(requests("flashmla:sgl_sparse", **LATENT), 3)
        self.assertEqual(requests("vllm:flashmla", **LATENT), 3)


@needs_numpy
class GivenTest(unittest.TestCase):
    def test_keys_of_lists_become_rows_by_the_block_table(self):
        batch = step([[4, 0, -1, 7], [5, -1, 1, 3], [0, 0, 2, -1], [-1, -1, 6, 3]], [4, 3, 4, 4], q_lens=[2, 1, 1])
        self.assertEqual(rows(batch).of(batch).tolist(),
                         [[28, 12, -1, 31], [29, -1, 13, -1], [36, 36, 38, -1], [-1, -1, 10, 23]])

    def test_rows_of_padding_are_left_out(self):
        batch = step([[4, 0], [1, 2], [-1, -1]], [2, 2, 0], q_lens=[1, 1])
        self.assertEqual(rows(batch).of(batch).tolist(), [[28, 12], [37, 38]])

    def test_rows_come_in_front_in_their_order_and_are_counted(self):
        batch = step([[-1, 4, -1, 0], [3, 3, 1, 2], [-1, -1, -1, -1]], [4, 3, 4], q_lens=[1, 1, 1])
        found, counts = rows(batch).in_front(batch)
        self.assertEqual(found.tolist(), [[28, 12, -1, -1], [39, 39, 37, -1], [-1] * 4])
        self.assertEqual(counts.tolist(), [2, 3, 0])

    def test_the_sparse_decode_is_given_the_lists_of_each_step_and_no_length(self):
        import numpy
        first, then = (step([[list_of, 1, 1], [2, -1, 5]], [3, 2], q_lens=[1, 1]) for list_of in (4, 6))
        plan = object.__new__(flashmla_sparse.FlashMlaSparsePlan)
        plan.problem = problem(**{**ROWS, "topk": 3})
        plan.chosen, plan.keys = rows(first), numpy.full((1, 2, 128), -1, dtype=numpy.int32)
        plan.q_in, plan.k_cache, plan.schedule = "q", "rows", ("metadata", "splits")
        for batch, row in ((first, 28), (then, 30)):
            plan.prepare(batch)
            given = named("vllm-0.33.0", "_flashmla_C.sparse_decode_fwd", plan.arguments)
            self.assertEqual(given["indices"][0, :, :5].tolist(), [[row, 13, 13, -1, -1], [38, -1, -1, -1, -1]])
            self.assertTrue((given["indices"][:, :, 3:] == -1).all())
            self.assertEqual([given[name] for name in ("q", "kv", "d_v", "sm_scale", "tile_scheduler_metadata", "num_splits")],
                             ["q", "rows", 512, 0.1, "metadata", "splits"])
            self.assertEqual({given[name] for name in ("topk_length", "attn_sink", "extra_kv", "extra_indices",
                                                       "extra_topk_length", "out_")}, {None})
            theirs = named("sgl-flash-mla-1.0.0", "flash_mla_legacy.sparse_decode_fwd", plan.arguments)
            self.assertEqual([name for name in theirs if theirs[name] is not given.get(name)], [])

    def prefill(self, cls, heads, batch):
        """The operator's arguments by name and the plan, with the queries of `heads` heads."""
        import numpy
        plan = object.__new__(flashmla_sparse_prefill.SparsePrefillPlan)
        plan.problem, tokens = problem(**{**CHOSEN, "topk": batch.problem.topk}), sum(batch.q_lens)
        plan.logit_scale = lambda batch: 0.25
        plan.torch = types.SimpleNamespace(
            full=lambda shape, value, **given: numpy.full(shape, value), int32=None,
            empty=lambda shape, **given: numpy.zeros(shape))
        plan.q = types.SimpleNamespace(shape=(tokens, heads, 576), device="cuda", new_zeros=lambda shape: shape)
        plan.k_cache, plan.out = types.SimpleNamespace(view=lambda *shape: shape), "out"
        backend = cls()
        backend.operators = types.SimpleNamespace(sparse_prefill_fwd=types.SimpleNamespace(default=None))
        with mock.patch.object(flashmla_sparse_prefill, "ChosenRows", rows):
            plan.bind(batch, backend)
        plan.prepare(batch)
        of_vllm = cls is flashmla_sparse_prefill.SparsePrefill
        return named(*(("vllm-0.33.0", "_flashmla_C.sparse_prefill_fwd") if of_vllm else
                       ("sgl-flash-mla-1.0.0", "flash_mla_legacy.sparse_prefill_fwd")), plan.arguments), plan

    def test_the_sparse_prefill_is_given_rows_in_front_by_vllm_and_lengths_of_the_lists_by_sglang(self):
        batch = step([[-1, 4, 2], [1, 1, 5]], [3, 2], q_lens=[2])
        for cls, lists, lengths in ((flashmla_sparse_prefill.SparsePrefill, [[28, 14, -1], [13, 13, -1]], [2, 2]),
                                    (flashmla_pack.SglSparsePrefill, [[-1, 28, 14], [13, 13, -1]], [3, 2])):
            given, _ = self.prefill(cls, 64, batch)
            self.assertEqual(given["indices"].shape, (2, 1, 128))
            self.assertEqual(given["indices"][:, 0, :3].tolist(), lists)
            self.assertTrue((given["indices"][:, 0, 3:] == -1).all())
            self.assertEqual(given["topk_length"].tolist(), lengths)
            self.assertEqual((given["kv"], given["sm_scale"], given["d_v"], given["attn_sink"]), ((-1, 1, 576), 0.25, 512, None))

    def test_the_sparse_prefill_writes_where_it_is_told_if_no_heads_are_added(self):
        batch = step([[1, 2]], [2], q_lens=[1])
        for heads, padded in ((16, 64), (64, 64), (65, 128), (128, 128)):
            given, plan = self.prefill(flashmla_sparse_prefill.SparsePrefill, heads, batch)
            whole = heads == padded
            self.assertEqual(given["out_"], "out" if whole else None)
            self.assertEqual(given["q"], plan.q if whole else (1, padded, 576))
        given, _ = self.prefill(flashmla_pack.SglSparsePrefill, 64, batch)
        self.assertEqual(list(given)[-1], "topk_length")

    def test_flash_attention_3_is_given_pages_of_one_key_and_requests_of_one_token(self):
        import numpy
        batch = step([[-1, 4, 2], [1, 1, 5]], [3, 2], q_lens=[2])
        plan = object.__new__(vllm_fa3_sparse.Fa3MlaSparsePlan)
        plan.problem, plan.logit_scale = problem(**{**CHOSEN, "topk": 3}), lambda batch: 0.25
        plan.torch = types.SimpleNamespace(
            int32=numpy.int32, full=lambda shape, value, **given: numpy.full(shape, value), zeros=lambda n, **given: numpy.ones(n),
            arange=lambda n, **given: numpy.arange(n))
        plan.query_parts = lambda: ("nope", "rope")
        Device = type("Device", (numpy.ndarray,), {"device": "cuda", "view": numpy.ndarray.reshape,
                                                   "unsqueeze": lambda self, dim: numpy.expand_dims(self, dim)})
        plan.out = numpy.ndarray.view(numpy.zeros((2, 16, 512)), Device)
        plan.k_cache = numpy.ndarray.view(numpy.zeros((10, 4, 1, 576)) + numpy.arange(576), Device)
        forward = types.SimpleNamespace(_schema=types.SimpleNamespace(arguments=arguments_in("vllm-0.33.0", "_vllm_fa3_C.fwd")))
        backend = vllm_fa3_sparse.Fa3MlaSparse()
        backend.operators = types.SimpleNamespace(fwd=types.SimpleNamespace(default=forward))
        with mock.patch.object(vllm_fa3_sparse, "ChosenRows", rows):
            plan.bind(batch, backend)
        plan.prepare(batch)
        given = named("vllm-0.33.0", "_vllm_fa3_C.fwd", plan.arguments)
        self.assertEqual(given["page_table"].tolist(), [[28, 14, -1], [13, 13, -1]])
        self.assertEqual((given["seqused_k"].tolist(), given["cu_seqlens_q"].tolist()), ([2, 2], [0, 1, 2]))
        self.assertEqual((given["q"], given["q_v"], given["max_seqlen_q"], given["max_seqlen_k"]), ("rope", "nope", 1, 3))
        self.assertEqual((given["k"].shape, given["v"].shape), ((40, 1, 1, 64), (40, 1, 1, 512)))
        self.assertEqual((given["k"].flat[0], given["v"].flat[0]), (512, 0))
        self.assertIs(given["out"], plan.out)
        plain = {"softmax_scale": 0.25, "is_causal": True, "window_size_left": -1, "window_size_right": -1, "softcap": 0.0,
                 "is_rotary_interleaved": True, "num_splits": 0, "sm_margin": 0, "cp_world_size": 1, "cp_rank": 0}
        self.assertEqual({name: given[name] for name in plain}, plain)
        self.assertEqual({name for name, value in given.items() if value is None}, {
            "k_new", "v_new", "cu_seqlens_k", "cu_seqlens_k_new", "seqused_q", "kv_batch_idx", "leftpad_k", "rotary_cos",
            "rotary_sin", "seqlens_rotary", "q_descale", "k_descale", "v_descale", "scheduler_metadata", "pack_gqa", "s_aux",
            "cp_tot_seqused_k"})

    def test_flashinfer_is_given_the_keys_of_all_lists_one_behind_the_other_and_their_lengths(self):
        import numpy
        Like = type("Like", (numpy.ndarray,), {"int": lambda self: self.astype(numpy.int32), "cpu": lambda self: self})
        planned = []

        def plan_of(batch):
            plan = object.__new__(flashinfer_sparse_mla.SparseMlaPlan)
            plan.problem, plan.logit_scale = problem(**{**CHOSEN, "topk": 3, "mode": "extend"}), lambda batch: 0.25
            plan.torch = types.SimpleNamespace(int32=numpy.int32, zeros=numpy.zeros, arange=numpy.arange)
            plan.q, plan.parts, plan.backend = types.SimpleNamespace(dtype="bf16"), ("nope", "rope"), flashinfer_sparse_mla.SparseMla()
            plan.out, plan.k_cache = [0] * sum(batch.q_lens), types.SimpleNamespace(
                dtype="bf16", view=lambda *shape: numpy.zeros((40, *shape[1:])))
            plan.ints = lambda count: ["empty", count]
            plan.wrapper = types.SimpleNamespace(plan=lambda **given: planned.append(given))
            metadata = types.SimpleNamespace(csr=lambda *keys: dict(zip(("qo_indptr", "kv_indptr", "kv_indices", "kv_len_arr"), keys)))
            plan.library = types.SimpleNamespace(mla=types.SimpleNamespace(
                MLAPlanMetadata=metadata, BatchMLAPagedAttentionWrapper=lambda *given, **buffers: plan.wrapper))
            made = rows(batch)
            made.where = lambda *given: numpy.where(*given).view(Like)
            plan.memory = None
            with mock.patch.object(flashinfer_sparse_mla, "ChosenRows", lambda batch: made), \
                    mock.patch.object(flashinfer_sparse_mla.MlaPlan, "bind", lambda self, batch, backend: self.make(batch)):
                plan.bind(batch, plan.backend)
            plan.prepare(batch)
            return plan
        plan = plan_of(step([[-1, 4, 2], [1, 1, 5], [-1, -1, -1]], [3, 2, 3], q_lens=[3]))
        self.assertEqual({name: list(value) for name, value in planned[0]["metadata"].items()}, {
            "qo_indptr": [0, 1, 2, 3], "kv_indptr": [0, 2, 4, 4], "kv_indices": [28, 14, 13, 13], "kv_len_arr": [2, 2, 0]})
        self.assertEqual([planned[0][name] for name in ("page_size", "causal", "sm_scale", "head_dim_kpe")], [1, False, 0.25, 64])
        self.assertEqual((plan.sizes(None), [part.shape for part in plan.cache_parts]), ((3, 3), [(40, 1, 512), (40, 1, 64)]))
        plan_of(step([[-1, -1, -1]], [0], q_lens=[1]))
        self.assertEqual(planned[1]["metadata"]["kv_indices"], ["empty", 1])


class Tensor:
    """Of a tensor its shape and strides."""
    device = "cuda"

    def __init__(self, *shape, strides=()):
        self.shape, self.strides = shape, strides

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        assert index == (slice(None), 0)
        return Tensor(self.shape[0], *self.shape[2:], strides=(self.strides[0], *self.strides[2:]))

    def stride(self):
        return self.strides

    def view(self, *shape):
        return Tensor(*(self.shape[0] * self.shape[2] // shape[0] if size == -1 else size for size in shape))

    def new_zeros(self, size):
        return ["zeros", size]


class SelectorsTest(unittest.TestCase):
    def call(self, name, **changed):
        """Of a step of 5 rows the operator that is called and its arguments by name, and what they were made of."""
        tensors = {"logits": Tensor(5, 1, 960, strides=(1024, 1024, 1)), "row_lens": Tensor(5), "topk_indices": Tensor(5, 1, 512)}
        batch = types.SimpleNamespace(
            problem=problem(**{**SELECT, "topk": 512, **changed}), q_tokens=5, kv_lens=[33, 900],
            tensor=lambda role: types.SimpleNamespace(torch=lambda: tensors[role]))
        operators = types.SimpleNamespace(**{
            each: types.SimpleNamespace(default=each) for each in ("top_k_per_row_decode", "top_k_per_row_prefill",
                                                                   "persistent_topk", "cooperative_topk")})
        torch = types.SimpleNamespace(uint8="u8", empty=lambda *shape, **given: (*shape, given["dtype"], given["device"]))
        tools = types.SimpleNamespace(on=lambda stream: contextlib.nullcontext(), finish=lambda tensor: None)
        backend = type(BACKENDS[name])()
        backend.operators = operators
        with mock.patch.dict(sys.modules, torch=torch, torch_tools=tools):
            plan = vllm_topk.SelectorPlan(batch, backend)
        ran = []
        operator, plan.operator = plan.operator, lambda *arguments: ran.append(arguments)
        plan.run(None)
        self.assertEqual(ran, [plan.arguments])
        return operator, named("vllm-0.33.0", f"_C.{operator}", plan.arguments), tensors

    def test_each_row_is_given_its_own_length(self):
        for mode, called, lens in (("decode", "top_k_per_row_decode", "seq_lens"), ("extend", "top_k_per_row_prefill", "rowEnds"),
                                   ("target_verify", "top_k_per_row_decode", "seq_lens")):
            operator, given, tensors = self.call("vllm:top_k_per_row", mode=mode)
            self.assertEqual(operator, called)
            self.assertIs(given[lens], tensors["row_lens"])
            self.assertEqual((given["logits"].shape, given["indices"].shape), ((5, 960), (5, 512)))
            self.assertEqual([given[name] for name in ("numRows", "stride0", "stride1", "topK")], [5, 1024, 1, 512])
            self.assertEqual(given.get("next_n", 1), 1)
            self.assertEqual(given.get("rowStarts", ["zeros", 5]), ["zeros", 5])

    def test_long_rows_are_given_with_the_length_of_the_longest_in_units(self):
        for name in ("persistent_topk", "cooperative_topk"):
            operator, given, tensors = self.call(f"vllm:{name}", topk_unit=16)
            self.assertEqual(operator, name)
            self.assertEqual((given["k"], given["max_seq_len"], given["workspace"]), (512, 57, (1 << 20, "u8", "cuda")))
            self.assertIs(given["lengths"], tensors["row_lens"])
            self.assertEqual((given["logits"].shape, given["output"].shape), ((5, 960), (5, 512)))


if __name__ == "__main__":
    unittest.main()
