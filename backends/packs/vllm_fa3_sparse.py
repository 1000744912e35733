# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashAttention 3 of vLLM's wheel over chosen keys: each is a page of its own, and each query token a request."""
from chosen_rows import ChosenRows, no_lists_of_keys
from engine_packages import arguments_of, need_gpu
from engine_tools import Plan, first_reason, no_latent_attention
from flash_attention_3 import one_gpu
from vllm_wheel import FA3, WITH_TRITON


class Fa3MlaSparse:
    name = "vllm:fa3_mla_sparse"
    description = "FlashAttention 3 of vLLM over chosen latent rows, which vLLM names FLASH_ATTN_MLA_SPARSE"
    requires = WITH_TRITON
    kernel = "_vllm_fa3_C.fwd"
    calls = {FA3: "fwd"}
    index_format = "topk_indices, block_table"
    device = "cuda"
    graph_support = "UNIFORM_BATCH"
    reads_queries_apart = True
    reads_selection = True
    reads_lists_at_run = True
    formats = ["NHD"]
    with_lse = False

    def load(self):
        self.operators = FA3.load("fwd")
        need_gpu(9, "FlashAttention 3")

    def supports(self, problem):
        no_fp8 = "no fp8 cache: FlashAttention 3 takes q_v, the queries of the latent part, in f16 and bf16 alone"
        return no_latent_attention(problem, no_fp8) or no_lists_of_keys(problem) or first_reason(
            (problem.topk == 0, "layers of chosen keys only"))

    def numerics(self, problem):
        return {"p": problem.dtype, "lse": self.with_lse}

    def plan(self, batch):
        return Fa3MlaSparsePlan(batch, self)


class Fa3MlaSparsePlan(Plan):
    joins_queries = False

    def bind(self, batch, backend):
        torch, problem = self.torch, self.problem
        latent_queries, rope_queries = self.query_parts()
        tokens, device, latent = len(self.out), self.out.device, problem.head_dim_v
        self.with_lse, self.chosen = backend.with_lse, ChosenRows(batch)
        self.rows = torch.full((tokens, problem.topk), -1, dtype=torch.int32, device=device)
        self.counts = torch.zeros(tokens, dtype=torch.int32, device=device)
        cache = self.k_cache.view(-1, problem.head_dim_qk)
        keys, values = (part.unsqueeze(1).unsqueeze(1) for part in (cache[:, latent:], cache[:, :latent]))
        self.forward = backend.operators.fwd.default
        self.arguments = arguments_of(
            self.forward, q=rope_queries, k=keys, v=values, q_v=latent_queries, out=self.out,
            cu_seqlens_q=torch.arange(tokens + 1, dtype=torch.int32, device=device), seqused_k=self.counts, max_seqlen_q=1,
            max_seqlen_k=problem.topk, page_table=self.rows, softmax_scale=self.logit_scale(batch), is_causal=True,
            window_size_left=-1, window_size_right=-1, softcap=0.0, is_rotary_interleaved=True, num_splits=0, sm_margin=0,
            **one_gpu(self.forward))

    def prepare(self, batch):
        self.chosen.take(batch)

    def launch(self):
        self.chosen.write(self.rows, self.counts)
        lse = self.forward(*self.arguments)[1]  # [query heads, tokens]
        if self.with_lse:
            self.lse.copy_(lse.t())
