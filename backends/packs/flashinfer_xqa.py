# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""XQA, which FlashInfer ships and calls without a wrapper."""
import math

from engine_tools import FP8, Plan, first_reason, reserved, with_values
from flashinfer_wrappers import XQA, FlashInfer


class XqaPlan(Plan):
    """TensorRT-LLM's decode kernel, whose grid follows from the batch size and the width of the page table: a recorded
    plan only needs a new table."""

    def bind(self, batch, backend):
        torch, problem = self.torch, self.problem
        self.library, requests = backend.library, batch.batch_size
        (self.memory,) = reserved(batch, ((backend.workspace,), torch.uint8))
        q_len = self.q.shape[0] // requests
        one = () if q_len == 1 else (1,)  # beams; nodes of a chain come behind them
        self.q, self.out = (x.view(requests, *one, q_len, *x.shape[1:]) for x in (self.q, self.out))
        self.drafts = {} if q_len == 1 else {"q_seq_len": q_len, "mask": self.causal_mask(requests, q_len)}
        self.semaphores = torch.zeros(requests * problem.heads_kv, dtype=torch.int32, device="cuda").view(torch.uint32)
        if self.sinks is not None:
            self.sinks = self.sinks.view(problem.heads_kv, -1)

    def causal_mask(self, requests, q_len):
        """For each node of a chain the bits of those that it sees, in uint16 that make whole words of 32."""
        seen = [[(1 << (node + 1)) - 1 >> at & 0xffff for at in range(0, -(-q_len // 32) * 32, 16)]
                for node in range(q_len)]
        return self.torch.tensor([seen] * requests, dtype=self.torch.uint16, device="cuda")

    def prepare(self, batch):
        table = batch.indices("page_table")
        self.table = table["page_table"].torch()
        self.lens = table["cache_seqlens"].torch().view(self.torch.uint32).view(-1, 1)
        scale = self.logit_scale(batch) * math.sqrt(self.problem.head_dim_qk)  # times the scale that it knows
        self.scales = {"q_scale": scale}
        if self.problem.cache_dtype in FP8:  # it knows one scale for keys and values
            self.scales = {"q_scale": scale * batch.k_scale / batch.v_scale, "kv_scale": batch.v_scale}

    def launch(self):
        self.library.xqa(
            self.q, self.k_cache, self.v_cache, self.table, self.lens, self.out, self.memory, self.semaphores,
            self.problem.heads_kv, self.problem.page_size, sinks=self.sinks, sliding_win_size=self.window + 1,
            **self.scales, **self.drafts)


class Xqa(FlashInfer):
    name = "flashinfer:xqa"
    description = "XQA, TensorRT-LLM's decode for grouped heads, as FlashInfer ships it"
    kernel = "xqa"
    calls = {XQA: kernel}
    index_format = "page_table"
    head_dims = tuple((dim, dim) for dim in range(16, 257, 16))
    groups = tuple(range(1, 17))
    sinks = chunks = True
    formats = ("NHD", "HND", "combined")
    graph_support = "UNIFORM_BATCH"
    plans = XqaPlan

    def supports(self, problem):
        fp8 = problem.cache_dtype in FP8
        # What holds of a decode of one token holds of a chain.
        chains = problem.mode == "target_verify" and problem.drafts_are_chains
        decode = with_values(problem, mode="decode", max_q_len=1) if chains else problem
        return first_reason(
            (problem.mode not in ("decode", "target_verify"), f"decodes and chains of drafts only, not {problem.mode}")
        ) or super().supports(decode) or first_reason(
            (problem.mode != "decode" and problem.attention_chunk > 0, "no chains of drafts in chunks: virtual requests"
             " differ in length"),
            (problem.mode != "decode" and problem.sliding_window_size >= 0, "no chains of drafts in windows: it places"
             " all of a chain's windows at its last node"),
            (problem.cache_dtype == "e5m2", "fp8 as e4m3 only"),
            (fp8 and problem.head_dim_qk not in (64, 128, 256), "over an e4m3 cache head dims 64, 128 and 256 only"),
            (problem.page_size not in (16, 32, 64, 128), f"pages of 16, 32, 64 or 128, not {problem.page_size}"),
            (not problem.causal or problem.is_cross_attention, "causal self-attention only"),
            (problem.logit_cap > 0, "no softcap"))

    def numerics(self, problem):
        if problem.cache_dtype in FP8:  # mha_sm90.cu: the tensor cores multiply e4m3 with e4m3, queries are rounded
            return {"qk_input": "e4m3", "p": "e4m3", "partial_out": problem.dtype, "lse": False}
        # Of a partial result the scale of its row, its own value and the sum of all warps are rounded.
        return {"p": problem.dtype, "partial_out": problem.dtype, "partial_roundings": 3, "lse": False}
