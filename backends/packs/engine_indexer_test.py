#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""What engines' kernels that score keys take, and what they are given, without any engine: operators that compute by
PyTorch on the CPU stand in for theirs."""
import contextlib
import importlib.util
import os
import sys
import types
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "testing")]
sys.dont_write_bytecode = True

import vllm_indexer
import vllm_pack
from pack_problems import CHAIN, CHUNK, TREE, problem

SCORERS = {cls.name: cls() for cls in vllm_pack.backends if getattr(cls, "scores_keys", False)}
SCORES = dict(step="indexer", page_size=64, topk=2048)
PAGED, PROMPTS = "vllm:paged_mqa_logits", "vllm:mqa_logits"
TAKEN = [
    (SCORES, PAGED),
    ({**SCORES, "index_heads": 32}, PAGED),
    ({**SCORES, "index_heads": 16}, ""),
    ({**SCORES, "page_size": 16}, ""),
    ({**SCORES, "page_size": 256}, ""),
    ({**SCORES, "topk_unit": 16}, ""),
    ({**SCORES, "topk_unit": 16, "page_size": 1024}, PAGED),
    ({**SCORES, **CHUNK, "topk_unit": 4, "page_size": 256}, PROMPTS),
    ({**SCORES, "topk_groups": 2}, ""),
    ({**SCORES, **CHAIN}, PAGED),
    ({**SCORES, **TREE}, ""),
    ({**SCORES, **CHUNK}, PROMPTS),
    ({**SCORES, **CHUNK, "mode": "mixed"}, PROMPTS),
    ({**SCORES, "step": "select"}, ""),
    ({**SCORES, "step": "attention"}, ""),
]
PAGE, HEADS, WIDTH = 64, 32, 192
SMS = 132


class TakenTest(unittest.TestCase):
    def test_every_step_is_taken_by_those_whose_kernels_can(self):
        for changed, names in TAKEN:
            with self.subTest(changed):
                self.assertEqual(set(names.split()), {name for name, backend in SCORERS.items()
                                                      if backend.supports(problem(**changed)) is None})

    def test_prompts_are_cut_where_their_logits_would_be_too_many(self):
        self.assertEqual(vllm_indexer.chunks_of([3, 3, 3], [10, 10, 10], 120), [(0, 2), (2, 3)])
        self.assertEqual(vllm_indexer.chunks_of([3, 3], [10, 10], 119), [(0, 1), (1, 2)])
        self.assertEqual(vllm_indexer.chunks_of([9, 1], [99, 1], 5), [(0, 1), (1, 2)])
        self.assertEqual(vllm_indexer.chunks_of([4], [9]), [(0, 1)])


def logits(q, k, scales, weights):
    """f32 [tokens, keys]."""
    import torch
    products = torch.einsum("thd,kd->thk", q.float(), k.float()).relu()
    return torch.einsum("thk,th->tk", products, weights) * scales


class Step:
    """A batch of requests, its tensors and the logits that it should have of keys, or of complete pools of `unit` keys."""

    def __init__(self, mode, q_lens, kv_lens, padding=1, flipped=False, unit=1):
        import torch
        torch.manual_seed(7)
        tokens = sum(q_lens)
        pages = torch.randperm(3 * len(q_lens), dtype=torch.int32).view(-1, 3)
        pages = pages.flip(0, 1) if flipped else pages
        k = torch.randn(3 * len(q_lens), PAGE * 128).to(torch.float8_e4m3fn)
        scales = torch.rand(3 * len(q_lens), PAGE)
        ends = [(kv - q + 1 + at) // unit for q, kv in zip(q_lens, kv_lens) for at in range(q)]
        self.tensors = {
            "index_q": torch.randn(tokens + padding, HEADS, 128).to(torch.float8_e4m3fn),
            "index_weights": torch.randn(tokens + padding, HEADS),
            "index_cache": torch.cat([k.view(torch.uint8), scales.view(torch.uint8)], dim=1),
            "row_lens": torch.tensor(ends + [0] * padding, dtype=torch.int32),
            "logits": torch.full((tokens + padding, 1, WIDTH), float("nan")), "block_table": pages}
        self.q_lens, self.kv_lens, self.batch_size = q_lens, kv_lens, len(q_lens)
        self.problem = problem(**{**SCORES, "mode": mode, "index_heads": HEADS, "topk_unit": unit, "page_size": PAGE * unit})
        of_token = [request for request, count in enumerate(q_lens) for _ in range(count)]
        self.right = [logits(self.tensors["index_q"][t:t + 1], k[pages[r].long()].view(-1, 128),
                             scales[pages[r].long()].view(-1), self.tensors["index_weights"][t:t + 1])[0, :ends[t]]
                      for t, r in enumerate(of_token)]

    def tensor(self, role):
        return types.SimpleNamespace(torch=lambda: self.tensors[role])


class Operators:
    """DeepGEMM's and the gather's on the CPU, which note what they are given."""

    def __init__(self):
        self.given = {}
        for name in ("get_paged_mqa_logits_metadata", "fp8_fp4_paged_mqa_logits", "fp8_fp4_mqa_logits",
                     "cp_gather_indexer_k_quant_cache"):
            setattr(self, name, types.SimpleNamespace(default=self.noting(name, getattr(self, f"_{name}"))))

    def noting(self, name, function):
        def call(*given):
            self.given.setdefault(name, []).append(given)
            return function(*given)
        return call

    def _get_paged_mqa_logits_metadata(self, context_lens, block_kv, slots, indices):
        import torch
        return torch.full((slots + 1, 2), int(context_lens.sum()), dtype=torch.int32)

    def _fp8_fp4_paged_mqa_logits(self, q, q_sf, cache, weights, lens, table, schedule, width, indices):
        import torch
        requests, next_n = q.shape[:2]
        assert lens.shape == (requests, next_n) and len(table) == requests and cache.shape[1:] == (PAGE, 1, 132)
        made = torch.full((requests * next_n, -(-width // 256) * 256), float("nan"))[:, :width]  # rows of 256 keys
        for request in range(requests):
            pages = cache.reshape(len(cache), -1)[table[request].long()]
            k, scales = pages[:, :PAGE * 128].contiguous(), pages[:, PAGE * 128:].contiguous()
            rows = slice(request * next_n, (request + 1) * next_n)
            found = logits(q[request], k.view(torch.float8_e4m3fn).view(-1, 128), scales.view(torch.float32).view(-1),
                           weights[rows])
            made[rows, :lens[request, -1]] = found[:, :lens[request, -1]]
        return made

    def _cp_gather_indexer_k_quant_cache(self, cache, k, scales, table, starts):
        import torch
        assert len(table) + 1 == len(starts) and starts[-1] == len(k) == len(scales)
        for request, (start, end) in enumerate(zip(starts.tolist(), starts.tolist()[1:])):
            pages = cache.reshape(len(cache), -1)[table[request].long()]
            k[start:end] = pages[:, :PAGE * 128].reshape(-1, 128)[:end - start].view(torch.float8_e4m3fn)
            scales[start:end] = pages[:, PAGE * 128:].reshape(-1, 4)[:end - start]

    def _fp8_fp4_mqa_logits(self, q, q_sf, k, scales, weights, ks, ke, width, schedule):
        import torch
        made, found = torch.full((len(q), width), float("nan")), logits(q, k, scales, weights)
        for row, (start, end) in enumerate(zip(ks.tolist(), ke.tolist())):
            made[row, :end - start] = found[row, start:end]
        return made


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
class ScoresTest(unittest.TestCase):
    def plan(self, name, step):
        """The plan of a step, and the operators that it called."""
        import torch
        import torch_tools
        backend = type(SCORERS[name])()
        backend.operators = backend.cache_operators = operators = Operators()
        with mock.patch.object(torch.cuda, "get_device_properties",
                               lambda device: types.SimpleNamespace(multi_processor_count=SMS)), \
                mock.patch.object(torch_tools, "on", lambda stream: contextlib.nullcontext()):
            return backend.plan(step), operators

    def assert_right(self, step):
        import torch
        for token, right in enumerate(step.right):
            torch.testing.assert_close(step.tensors["logits"][token, 0, :len(right)], right, rtol=1e-5, atol=1e-3)
        self.assertTrue(step.tensors["logits"][len(step.right):].isnan().all())  # padding

    def run_step(self, name, *step, **more):
        step = Step(*step, **more)
        plan, operators = self.plan(name, step)
        step.tensors["logits"].fill_(float("nan"))
        plan.run(None)
        self.assert_right(step)
        return step, plan, operators

    def test_decodes_and_chains_of_1_2_and_4_are_given_as_they_are(self):
        for count, slots in ((1, SMS), (2, SMS), (4, SMS // 2)):
            step, _, operators = self.run_step(PAGED, "target_verify", [count] * 3, [5, 64, 190])
            lens, page, found, indices = operators.given["get_paged_mqa_logits_metadata"][-1]
            self.assertEqual((lens.tolist(), page, found, indices),
                             (step.tensors["row_lens"][:3 * count].view(3, count).tolist(), PAGE, slots, None))
            self.assertIs(operators.given["fp8_fp4_paged_mqa_logits"][-1][5], step.tensors["block_table"])

    def test_chains_of_other_lengths_are_a_row_a_token(self):
        for q_lens in ([3, 3], [1, 2], [2, 0, 4]):
            step, _, operators = self.run_step(PAGED, "target_verify", q_lens, [9, 100, 64][:len(q_lens)])
            self.assertEqual(operators.given["get_paged_mqa_logits_metadata"][-1][0].shape, (sum(q_lens), 1))
            self.assertEqual(operators.given["get_paged_mqa_logits_metadata"][-1][2], SMS)

    def test_an_update_schedules_the_lengths_and_pages_of_the_next_step_in_the_same_memory(self):
        for q_lens in ([1, 1], [3, 3]):
            step, plan, operators = self.run_step(PAGED, "target_verify", q_lens, [9, 100])
            schedule, rows, old = plan.schedule, plan.rows, int(plan.schedule[0, 0])
            grown = Step("target_verify", q_lens, [70, 101], flipped=True)
            for name in ("row_lens", "block_table", "logits"):
                step.tensors[name].copy_(grown.tensors[name])
            self.assertTrue(plan.update(step, None))
            self.assertEqual(int(schedule[0, 0]), old + sum(q_lens) // 2 * 62)
            plan.run(None)
            self.assertIs(operators.given["fp8_fp4_paged_mqa_logits"][-1][6], schedule)
            self.assertIs(operators.given["fp8_fp4_paged_mqa_logits"][-1][5], rows)
            step.right = grown.right
            self.assert_right(step)
            self.assertFalse(plan.update(Step("target_verify", [2, 2], [9, 9]), None))

    def test_keys_of_prompts_are_gathered_and_each_row_begins_with_its_request(self):
        step, _, operators = self.run_step(PROMPTS, "extend", [5, 0, 70], [30, 64, 190])
        _, _, _, table, starts = operators.given["cp_gather_indexer_k_quant_cache"][-1]
        self.assertEqual(starts.tolist(), [0, 30, 94, 284])
        ks, ke, width = operators.given["fp8_fp4_mqa_logits"][-1][5:8]
        self.assertEqual((ks.tolist(), width), ([0] * 5 + [94] * 70, 190))
        self.assertEqual((ke - ks).tolist(), step.tensors["row_lens"][:-1].tolist())

    def test_complete_pools_are_rows_as_keys_are(self):
        step, _, operators = self.run_step(PAGED, "target_verify", [2] * 3, [4, 64, 190], unit=4)
        lens, page = operators.given["get_paged_mqa_logits_metadata"][-1][:2]
        self.assertEqual((lens.tolist(), page), ([[0, 1], [15, 16], [47, 47]], PAGE))
        step, _, operators = self.run_step(PROMPTS, "extend", [5, 3, 70], [30, 3, 190], unit=4)
        self.assertEqual(operators.given["cp_gather_indexer_k_quant_cache"][-1][4].tolist(), [0, 7, 7, 54])
        ks, ke, width = operators.given["fp8_fp4_mqa_logits"][-1][5:8]
        self.assertEqual((ks.tolist(), width), ([0] * 5 + [7] * 73, 47))
        self.assertEqual((ke - ks).tolist(), step.tensors["row_lens"][:-1].tolist())

    def test_long_prompts_are_scored_in_parts_of_one_gather(self):
        with mock.patch.object(vllm_indexer, "MOST_LOGITS", 190 * 20):
            chunks = mock.patch.object(vllm_indexer, "chunks_of", lambda q, kv: [(0, 1), (1, 2)])
            with chunks:
                _, _, operators = self.run_step(PROMPTS, "extend", [5, 50], [30, 190])
        self.assertEqual([len(given[0]) for given in operators.given["fp8_fp4_mqa_logits"][-4:]], [5, 20, 20, 10])
        self.assertEqual(len(operators.given["cp_gather_indexer_k_quant_cache"]), 4)  # of plan() and run() two each

    def test_a_step_without_queries_launches_nothing(self):
        for name in (PAGED, PROMPTS):
            plan, operators = self.plan(name, Step("extend", [0, 0], [9, 9]))
            plan.run(None)
            self.assertEqual(operators.given, {})


if __name__ == "__main__":
    unittest.main()
