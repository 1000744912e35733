# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""vLLM's cascade: pages that all requests begin with are read once, then each request's others, merged by LSE.

vLLM 0.33 has given it up, but its wheel has all kernels of it.
"""
from engine_packages import arguments_of
from engine_tools import Plan, first_reason, shared_pages
from flash_attention_3 import one_gpu, sinks_of
from vllm_wheel import CORE

MERGE = "merge_attn_states"


class Cascade:
    """Beside a class of FlashAttention 3, whose operators it calls."""
    name = "vllm:cascade"
    description = "vLLM's cascade of FlashAttention 3: a prefix that all requests share is read once, then merged"
    kernel = "_vllm_fa3_C.fwd, _C.merge_attn_states"
    graph_support = "NEVER"
    tuning = {}
    formats = ("NHD", "HND", "combined", "joint", "joint_hnd")
    reads_fp8_queries = False

    def load(self):
        self.merge = CORE.load(MERGE).merge_attn_states.default
        super().load()

    def supports(self, problem):
        return super().supports(problem) or first_reason(
            (not problem.causal or problem.is_cross_attention, "causal self-attention only"),
            (problem.cache_dtype != problem.dtype, "a cache of the queries' type only"),
            (problem.sliding_window_size >= 0, "no window: its levels would count from different ends"),
            (problem.attention_chunk > 0, "no chunks"),
            (problem.empty_rows, "no requests with fewer keys than queries"))

    def numerics(self, problem):
        return {"p": problem.dtype, "partial_out": problem.dtype, "lse": self.with_lse}

    def plan(self, batch):
        return CascadePlan(batch, self)


class CascadePlan(Plan):
    follows = False

    def bind(self, batch, backend):
        self.operators, self.merge, self.with_lse = backend.operators, backend.merge, backend.with_lse
        self.prefix_out, self.own_out = (self.torch.empty_like(self.out) for _ in range(2))

    def prepare(self, batch):
        here = {name: array.numpy() for name, array in batch.indices("csr", host=True).items()}
        pages = shared_pages(batch, here["kv_indptr"], here["kv_indices"])
        shared = pages * self.problem.page_size
        table = {name: array.torch() for name, array in batch.indices("page_table").items()}
        lens = self.torch.tensor(batch.kv_lens, dtype=self.torch.int32, device="cuda")
        self.prefix = None
        if pages > 0:
            every = self.torch.tensor([0, sum(batch.q_lens)], dtype=self.torch.int32, device="cuda")
            self.prefix = self.call(batch, 1, out=self.prefix_out, cu_seqlens_q=every, page_table=table["page_table"][:1],
                                    seqused_k=self.torch.full_like(lens[:1], shared), max_seqlen_q=sum(batch.q_lens),
                                    max_seqlen_k=shared, is_causal=False, **sinks_of(self))  # counted here only
        own_sinks = {} if self.prefix else sinks_of(self)
        self.own = self.call(batch, batch.batch_size, out=self.own_out if self.prefix else self.out,
                             cu_seqlens_q=batch.indices("varlen")["cu_seqlens_q"].torch(),
                             page_table=table["page_table"][:, pages:], seqused_k=lens - shared,
                             max_seqlen_q=max(batch.q_lens), max_seqlen_k=max(batch.kv_lens) - shared, is_causal=True,
                             **own_sinks)

    def call(self, batch, requests, page_table, **given):
        """The arguments of a launch, with its own schedule, as vLLM computes both once a step."""
        problem, forward = self.problem, self.operators.fwd.default
        step = {name: given[name] for name in ("cu_seqlens_q", "seqused_k", "max_seqlen_q", "max_seqlen_k", "is_causal")}
        shared = {"window_size_left": -1, "window_size_right": 0 if given["is_causal"] else -1, "sm_margin": 0,
                  "num_splits": 0}
        plan_work = self.operators.get_scheduler_metadata.default
        schedule = plan_work(*arguments_of(
            plan_work, batch_size=requests, num_heads=problem.heads_q, num_heads_k=problem.heads_kv,
            headdim=problem.head_dim_qk, headdim_v=problem.head_dim_v, qkv_dtype=self.q.dtype,
            page_size=problem.page_size, max_seqlen_k_new=0, has_softcap=problem.logit_cap > 0, **step, **shared))
        return arguments_of(
            forward, q=self.q, k=self.k_cache, v=self.v_cache, page_table=page_table, scheduler_metadata=schedule,
            softmax_scale=self.logit_scale(batch), softcap=problem.logit_cap, is_rotary_interleaved=True, **given,
            **shared, **one_gpu(forward))

    def launch(self):
        forward = self.operators.fwd.default
        lse = forward(*self.own)[1]  # [query heads, tokens]
        if self.prefix:
            prefix_lse = forward(*self.prefix)[1]
            own_lse, lse = lse, self.torch.empty_like(lse) if self.with_lse else None
            self.merge(self.out, lse, self.prefix_out, prefix_lse, self.own_out, own_lse, None, None)
        if self.with_lse:
            self.lse.copy_(lse.t())
