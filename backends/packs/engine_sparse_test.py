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
# DeepSeek-V4's layers: a window and a sink, with compressed rows of 128 tokens, or those of 4 that a list names.
DSV4 = {**LATENT, "head_dim_qk": 512, "sliding_window_size": 127, "has_sinks": True}
HCA, CSA = {**DSV4, "compress_ratio": 128}, {**DSV4, "compress_ratio": 4, "topk": 512, "topk_unit": 4}
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
    (DSV4, "vllm:flashmla_dsv4_prefill"),
    (HCA, "vllm:flashmla_dsv4_prefill"),
    (CSA, "vllm:flashmla_dsv4_prefill"),
    ({**CSA, **CHUNK}, "vllm:flashmla_dsv4_prefill"),
    ({**CSA, **TREE}, ""),
    ({**CSA, "compress_ratio": 0}, ""),
    ({**HCA, "head_dim_qk": 576}, ""),
    ({**HCA, "sliding_window_size": -1}, ""),
    ({**HCA, "logit_cap": 30}, ""),
    ({**HCA, "cache_dtype": "e4m3"}, ""),
    ({**HCA, "heads_q": 192}, ""),
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


TABLE = [[3, 7], [9, -1], [5, 2]]  # pages of 4 keys


def step(lists, lengths, q_lens, make=None, **changed):
    """A batch whose requests have pages of 4 keys, with the lists of its tokens and of padding. make(values): an array of
    these i32; NumPy's unless it is given."""
    import numpy
    make = make or (lambda values: numpy.array(values, numpy.int32))
    arrays = {"topk_indices": make(lists)[:, None], "topk_length": make(lengths)[:, None],
              "block_table": make(TABLE[:len(q_lens)])}
    return types.SimpleNamespace(
        problem=problem(page_size=4, topk=len(lists[0]), **changed), q_lens=q_lens, batch_size=len(q_lens),
        tensor=lambda role: types.SimpleNamespace(torch=lambda: arrays[role]))


class RowsByLoops(chosen_rows.ChosenRows):
    """ChosenRows of a batch, without Triton."""
    own = None

    def __init__(self, batch):
        self.requests = [request for request, count in enumerate(batch.q_lens) for _ in range(count)]

    def write(self, rows, counts=None):
        lists, lengths, table = self.step
        for token, request in enumerate(self.requests):
            keys = [int(key) if column < lengths[token][0] else -1 for column, key in enumerate(lists[token])]
            found = [-1 if key < 0 else int(table[request][key // 4]) * 4 + key % 4 for key in keys]
            if counts is not None:
                there = [row for row in found if row >= 0]
                found, counts[token] = there + [-1] * (len(found) - len(there)), len(there)
            for column, row in enumerate(found):
                rows[token, column] = row


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


@unittest.skipUnless(all(map(importlib.util.find_spec, ("torch", "triton"))), "torch or Triton is not installed")
class RowsTest(unittest.TestCase):
    """The kernel, in Triton's interpreter."""

    def setUp(self):
        self.enterContext(mock.patch.dict(os.environ, {"TRITON_INTERPRET": "1"}))

    def written(self, chosen, batch, width, counted):
        import torch
        chosen.take(batch)
        rows = torch.full((sum(batch.q_lens), width), 99, dtype=torch.int32)
        counts = torch.full((len(rows),), 99, dtype=torch.int32) if counted else None
        chosen.write(rows, counts)
        return rows.tolist(), counts.tolist() if counted else None

    def check(self, *made, counted, columns_behind=0, **changed):
        """What the kernel and the loops write of the same steps of a plan."""
        import torch
        steps = [step(*each, make=lambda values: torch.tensor(values, dtype=torch.int32), **changed) for each in made]
        kernel, loops = chosen_rows.ChosenRows(steps[0]), RowsByLoops(steps[0])
        for batch in steps:
            width = batch.problem.topk + columns_behind
            self.assertEqual(self.written(kernel, batch, width, counted), self.written(loops, batch, width, counted))

    def test_keys_become_rows_by_the_block_table(self):
        lists = [[4, 0, -1, 7], [5, -1, 1, 3], [0, 0, 2, -1], [-1, -1, 6, 3], [8, 8, 8, 8]]
        for counted in (False, True):
            self.check((lists, [4, 3, 4, 4, 4], [2, 1, 1]), counted=counted, columns_behind=3)
            self.check(([[1], [-1]], [1, 1], [1, 1]), counted=counted)

    def test_a_recorded_plan_finds_the_lists_of_its_next_step(self):
        steps = [([[key, 2, -1], [-1, 1, 3]], [3, length], [1, 1]) for key, length in ((1, 3), (6, 2))]
        for counted in (False, True):
            self.check(*steps, counted=counted, recorded=True, max_kv_len=30)


    def test_compressed_rows_come_before_those_of_the_window(self):
        import torch
        from compressed_rows import CompressedRows

        def batch(kv_lens, q_lens, lists=(), lengths=(), **changed):
            # Slots that say what they are: 1000 times the request, then the index among its keys.
            slots = torch.arange(40)[None] + 1000 * torch.arange(9)[:, None]
            arrays = {"req_to_token": slots, "req_pool_indices": torch.arange(1, 1 + len(kv_lens)),
                      "topk_indices": torch.tensor(lists)[:, None], "topk_length": torch.tensor(lengths)[:, None]}
            return types.SimpleNamespace(
                problem=problem(max_kv_len=30, sliding_window_size=2, compress_ratio=4, topk=len(lists[0]) if lists else 0,
                                **changed), q_lens=q_lens, kv_lens=kv_lens, batch_size=len(kv_lens),
                tensor=lambda role: types.SimpleNamespace(torch=lambda: arrays[role].int()))

        def written(plan, step):
            plan.take(step)
            rows, counts = torch.full((sum(step.q_lens), 12), 9), torch.zeros(sum(step.q_lens), dtype=torch.int32)
            plan.write(rows := rows.int(), counts)
            return [row[:count] for row, count in zip(rows.tolist(), counts.tolist())]

        all_rows = batch([9, 3], [2, 1])
        plan = CompressedRows(all_rows)
        self.assertEqual(written(plan, all_rows), [[1009, 1010, 1005, 1006, 1007], [1009, 1010, 1006, 1007, 1008],
                                                   [2000, 2001, 2002]])
        listed = batch([13, 9], [1, 1], [[2, -1, 0], [1, 0, 1]], [3, 1], recorded=True)
        plan = CompressedRows(listed)
        self.assertEqual(written(plan, listed), [[1015, 1013, 1010, 1011, 1012], [2010, 2006, 2007, 2008]])
        later = batch([14, 3], [1, 1], [[1, 3, 0], [0, -1, -1]], [2, 1], recorded=True)
        self.assertEqual(written(plan, later), [[1015, 1011, 1012, 1013], [2000, 2001, 2002]])


@needs_numpy
class GivenTest(unittest.TestCase):
    def rows(self, *made):
        """The rows of each token of a step, and those in front and how many they are."""
        import numpy
        batch = step(*made)
        chosen, shape = RowsByLoops(batch), (sum(batch.q_lens), batch.problem.topk)
        rows, front, counts = numpy.zeros(shape, int), numpy.zeros(shape, int), numpy.zeros(shape[0], int)
        chosen.take(batch)
        chosen.write(rows)
        chosen.write(front, counts)
        return rows.tolist(), front.tolist(), counts.tolist()

    def test_keys_of_lists_become_rows_by_the_block_table(self):
        rows, _, _ = self.rows([[4, 0, -1, 7], [5, -1, 1, 3], [0, 0, 2, -1], [-1, -1, 6, 3]], [4, 3, 4, 4], [2, 1, 1])
        self.assertEqual(rows, [[28, 12, -1, 31], [29, -1, 13, -1], [36, 36, 38, -1], [-1, -1, 10, 23]])

    def test_rows_of_padding_are_left_out(self):
        rows, _, _ = self.rows([[4, 0], [1, 2], [-1, -1]], [2, 2, 0], [1, 1])
        self.assertEqual(rows, [[28, 12], [37, 38]])

    def test_rows_come_in_front_in_their_order_and_are_counted(self):
        _, front, counts = self.rows([[-1, 4, -1, 0], [3, 3, 1, 2], [-1, -1, -1, -1]], [4, 3, 4], [1, 1, 1])
        self.assertEqual((front, counts), ([[28, 12, -1, -1], [39, 39, 37, -1], [-1] * 4], [2, 3, 0]))

    def test_the_sparse_decode_is_given_the_lists_of_each_step_and_no_length(self):
        import numpy
        first, then = (step([[1, 1, 1], [2, -1, 5]], [3, 2], q_lens=[1, 1]) for _ in range(2))
        plan = object.__new__(flashmla_sparse.FlashMlaSparsePlan)
        plan.problem = problem(**{**ROWS, "topk": 3})
        plan.chosen, plan.keys = RowsByLoops(first), numpy.full((1, 2, 128), -1, dtype=numpy.int32)
        plan.q_in = plan.q = types.SimpleNamespace(shape=(1, 2, 16, 576))
        plan.k_cache, plan.schedule = "rows", ("metadata", "splits")
        plan.keys = plan.keys.view(type("View", (numpy.ndarray,), {"view": numpy.ndarray.reshape}))
        plan.out, plan.give_lse = types.SimpleNamespace(copy_=lambda values: None), lambda values: None
        plan.forward = lambda *given: (numpy.zeros((1, 2, 64, 512)), numpy.zeros((1, 64, 2)))
        for batch, key, row in ((first, 4, 28), (then, 6, 30)):
            plan.prepare(batch)
            batch.tensor("topk_indices").torch()[0, 0, 0] = key  # as a selector of the same step leaves it
            plan.launch()
            given = named("vllm-0.33.0", "_flashmla_C.sparse_decode_fwd", plan.arguments)
            self.assertEqual(given["indices"][0, :, :5].tolist(), [[row, 13, 13, -1, -1], [38, -1, -1, -1, -1]])
            self.assertTrue((given["indices"][:, :, 3:] == -1).all())
            self.assertEqual([given[name] for name in ("q", "kv", "d_v", "sm_scale", "tile_scheduler_metadata", "num_splits")],
                             [plan.q, "rows", 512, 0.1, "metadata", "splits"])
            self.assertEqual({given[name] for name in ("topk_length", "attn_sink", "extra_kv", "extra_indices",
                                                       "extra_topk_length", "out_")}, {None})
            theirs = named("sgl-flash-mla-1.0.0", "flash_mla_legacy.sparse_decode_fwd", plan.arguments)
            self.assertEqual([name for name in theirs if theirs[name] is not given.get(name)], [])

    def prefill(self, cls, heads, batch):
        """The operator's arguments by name and the plan, with the queries of `heads` heads."""
        import numpy
        Counts = type("Counts", (numpy.ndarray,), {"copy_": lambda self, values: self.__setitem__(slice(None), values)})
        plan = object.__new__(flashmla_sparse_prefill.SparsePrefillPlan)
        plan.problem, tokens = problem(**{**CHOSEN, "topk": batch.problem.topk}), sum(batch.q_lens)
        plan.logit_scale = lambda batch: 0.25
        plan.torch = types.SimpleNamespace(
            full=lambda shape, value, **given: numpy.full(shape, value), int32=None,
            empty=lambda shape, **given: Counts(shape))
        plan.q = types.SimpleNamespace(shape=(tokens, heads, 576), device="cuda", new_zeros=lambda shape: shape)
        plan.k_cache = types.SimpleNamespace(view=lambda *shape: shape)
        plan.out = types.SimpleNamespace(copy_=lambda values: None)
        backend = cls()
        forward = lambda *given: (numpy.zeros((tokens, heads, 512)), None, None)
        backend.operators = types.SimpleNamespace(sparse_prefill_fwd=types.SimpleNamespace(default=forward))
        with mock.patch.object(flashmla_sparse_prefill, "ChosenRows", RowsByLoops):
            plan.bind(batch, backend)
        batch.tensor("topk_indices").torch()[:], left = -1, batch.tensor("topk_indices").torch().copy()
        plan.prepare(batch)
        batch.tensor("topk_indices").torch()[:] = left  # as a selector of the same step leaves them
        if plan.q_in is plan.q:
            plan.launch()
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
            self.assertIs(given["out_"], plan.out if whole else None)
            self.assertEqual(given["q"], plan.q if whole else (1, padded, 576))
        given, _ = self.prefill(flashmla_pack.SglSparsePrefill, 64, batch)
        self.assertEqual(list(given)[-1], "topk_length")

    def test_flash_attention_3_is_given_pages_of_one_key_and_requests_of_one_token(self):
        import numpy
        batch = step([[1, 1, 1], [1, 1, 5]], [3, 2], q_lens=[2])
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
        forward = mock.Mock(_schema=types.SimpleNamespace(arguments=arguments_in("vllm-0.33.0", "_vllm_fa3_C.fwd")),
                            return_value=("out", "lse"))
        backend = vllm_fa3_sparse.Fa3MlaSparse()
        backend.operators = types.SimpleNamespace(fwd=types.SimpleNamespace(default=forward))
        with mock.patch.object(vllm_fa3_sparse, "ChosenRows", RowsByLoops):
            plan.bind(batch, backend)
        plan.prepare(batch)
        batch.tensor("topk_indices").torch()[0, 0] = -1, 4, 2  # as a selector of the same step leaves them
        plan.launch()
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
            plan.torch = types.SimpleNamespace(
                int32=numpy.int32, zeros=numpy.zeros, arange=numpy.arange,
                empty=lambda shape, **given: numpy.zeros(shape, numpy.int32).view(Like))
            plan.q, plan.parts, plan.backend = types.SimpleNamespace(dtype="bf16"), ("nope", "rope"), flashinfer_sparse_mla.SparseMla()
            plan.out, plan.k_cache = Tensor(sum(batch.q_lens)), types.SimpleNamespace(
                dtype="bf16", view=lambda *shape: numpy.zeros((40, *shape[1:])))
            plan.ints = lambda count: ["empty", count]
            plan.wrapper = types.SimpleNamespace(plan=lambda **given: planned.append(given))
            metadata = types.SimpleNamespace(csr=lambda *keys: dict(zip(("qo_indptr", "kv_indptr", "kv_indices", "kv_len_arr"), keys)))
            plan.library = types.SimpleNamespace(mla=types.SimpleNamespace(
                MLAPlanMetadata=metadata, BatchMLAPagedAttentionWrapper=lambda *given, **buffers: plan.wrapper))
            plan.memory = None
            with mock.patch.object(flashinfer_sparse_mla, "ChosenRows", RowsByLoops), \
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
