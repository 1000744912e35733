# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashMLA as vLLM's wheel has it: dense decodes of latent attention."""
from engine_packages import need_gpu
from engine_tools import Plan, first_reason, no_latent_attention
from vllm_wheel import FLASH_MLA, FLASH_MLA_FP8, REQUIRES

FP8_CALLS = "get_mla_decoding_metadata_dense_fp8 fwd_kvcache_mla_fp8"


class FlashMla:
    name = "vllm:flashmla"
    description = ("FlashMLA's dense decode, over pages of 64 latent rows; over an e4m3 cache with queries rounded to "
                   "e4m3")
    requires = REQUIRES
    kernel = "_flashmla_C.dense_decode_fwd; _flashmla_extension_C.fwd_kvcache_mla_fp8"
    calls = {FLASH_MLA: "dense_decode_fwd", FLASH_MLA_FP8: FP8_CALLS}
    fp8_library = FLASH_MLA_FP8
    index_format = "flashmla"
    device = "cuda"
    graph_support = "UNIFORM_BATCH"
    reads_fp8_queries = True
    reads_queries_apart = True
    reads_page_gaps = True
    with_lse = False

    def load(self):
        library = next(iter(self.calls))
        self.operators = library.load(*self.calls[library].split())
        need_gpu(9, "FlashMLA's dense decode")

    def supports(self, problem):
        fp8 = problem.cache_dtype == "e4m3"
        return no_latent_attention(problem, no_fp8=None) or first_reason(
            (problem.mode not in ("decode", "target_verify"), f"decodes and chains of drafts only, not {problem.mode}"),
            (problem.page_size != 64, f"pages of 64 tokens, not {problem.page_size}"),
            (fp8 and problem.dtype != "bf16", "over an e4m3 cache it writes bf16 only"),
            (problem.q_dtype == "e5m2", "queries in e4m3 only, of fp8"),
            (problem.q_dtype == "e4m3" and not fp8, "queries in e4m3 over an e4m3 cache only"),
            (problem.q_scales != "tensor", "one scale for all queries only"))

    def numerics(self, problem):
        if problem.cache_dtype == "e4m3":  # the tensor cores multiply e4m3 with e4m3
            return {"qk_input": "e4m3", "p": "e4m3", "lse": self.with_lse}
        return {"p": problem.dtype, "lse": self.with_lse}

    def requests_of(self, batch):
        return batch.batch_size

    def plan(self, batch):
        if batch.problem.cache_dtype == "e4m3":
            self.fp8_operators = self.fp8_library.load(*FP8_CALLS.split())
            return FlashMlaFp8Plan(batch, self)
        return self.plans(batch, self)


class FlashMlaPlan(Plan):
    writes_out = True  # into a tensor that it is given; a build without that returns new memory

    def bind(self, batch, backend):
        self.with_lse, self.operators = backend.with_lse, backend.operators
        requests = backend.requests_of(batch)
        # Padding, which has no keys either, is nobody's query. Only the device knows whether a list is empty.
        self.has_empty_rows = self.problem.topk > 0 or self.problem.empty_rows
        self.q, self.out = (x.view(requests, -1, *x.shape[1:]) for x in (self.q, self.out))
        self.by_head = self.lse.view(requests, -1, self.lse.shape[1]).transpose(1, 2)
        self.drafts = self.problem.mode == "target_verify"

    def prepare(self, batch):
        # The schedule that the library computes in a kernel ahead of a step's first layer.
        mla = {name: array.torch() for name, array in batch.indices("flashmla").items()}
        self.forward = self.operators.dense_decode_fwd.default
        self.arguments = (self.q, self.k_cache, self.problem.head_dim_v, mla["cache_seqlens"], mla["block_table"],
                          self.logit_scale(batch), self.drafts, mla["tile_scheduler_metadata"], mla["num_splits"])
        if self.writes_out:  # tokens and heads are rows of the one KV head
            self.arguments += (self.out.view(batch.batch_size, 1, -1, self.problem.head_dim_v),)

    def launch(self):
        out, lse = self.forward(*self.arguments)[:2]
        if not self.writes_out:
            self.out.copy_(out)
        self.give_lse(lse)

    def give_lse(self, lse):
        """f32 [requests, query heads, tokens of one]; +inf where there is no key."""
        if self.with_lse:
            self.by_head.copy_(lse)
            if self.has_empty_rows:
                self.lse.masked_fill_(self.lse == float("inf"), -float("inf"))


class FlashMlaFp8Plan(FlashMlaPlan):
    """The kernel over an e4m3 cache, which has operators and a schedule of its own and returns O in new memory."""

    def bind(self, batch, backend):
        super().bind(batch, backend)
        torch, self.operators = self.torch, backend.fp8_operators
        self.q_in = self.q if self.problem.q_dtype == "e4m3" else torch.empty_like(self.q, dtype=self.k_cache.dtype)
        self.descales = [torch.tensor([scale], device="cuda") for scale in (batch.q_scale, batch.k_scale)]
        self.schedule = None

    def prepare(self, batch):
        operators, problem = self.operators, self.problem
        table = batch.indices("page_table")
        lens, pages = table["cache_seqlens"].torch(), table["page_table"].torch()
        schedule = operators.get_mla_decoding_metadata_dense_fp8.default(
            lens, self.q.shape[1] * problem.heads_q, problem.heads_kv)
        if self.schedule is not None:
            for ours, step in zip(self.schedule, schedule):
                ours.copy_(step)
            return
        self.schedule, self.forward = schedule, operators.fwd_kvcache_mla_fp8.default
        self.arguments = (self.q_in, self.k_cache, problem.head_dim_v, lens, pages, problem.scale, self.drafts,
                          *schedule, *self.descales)

    def launch(self):
        if self.q_in is not self.q:
            self.q_in.copy_(self.q)  # as vLLM rounds them in the layer
        out, lse = self.forward(*self.arguments)
        self.out.copy_(out)
        self.give_lse(lse)


FlashMla.plans = FlashMlaPlan
