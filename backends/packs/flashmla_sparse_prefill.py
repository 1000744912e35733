# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashMLA's sparse prefill of latent attention, as vLLM's wheel has it."""
from chosen_rows import ChosenRows, no_lists_of_keys
from engine_tools import Plan, first_reason, no_latent_attention
from flashmla_sparse import with_all_heads
from vllm_flashmla import FlashMla
from vllm_wheel import FLASH_MLA, WITH_TRITON


class SparsePrefill:
    name = "vllm:flashmla_sparse_prefill"
    description = ("FlashMLA's sparse prefill over bf16 latent rows, a list of chosen keys for each query token; vLLM decodes "
                   "with it as well where the cache is in bf16")
    requires = WITH_TRITON
    kernel = "_flashmla_C.sparse_prefill_fwd"
    calls = {FLASH_MLA: "sparse_prefill_fwd"}
    index_format = "topk_indices, block_table"
    device = "cuda"
    graph_support = "UNIFORM_BATCH"
    reads_queries_apart = True
    reads_selection = True
    reads_lists_at_run = True
    formats = ["NHD"]
    with_lse = False
    writes_out = True  # into a tensor that it is given; a build without that returns new memory

    load = FlashMla.load

    def supports(self, problem):
        no_fp8 = "rows in bf16 only: engines widen a prompt's fp8 rows first"
        return no_latent_attention(problem, no_fp8) or no_lists_of_keys(problem) or first_reason(
            (problem.topk == 0, "layers of chosen keys only"),
            (problem.dtype != "bf16", "bf16 only"),
            (problem.heads_q > 128, "128 query heads at most"))

    def numerics(self, problem):
        return {"p": "bf16", "lse": self.with_lse}

    def write_lists(self, chosen, rows, lengths):
        """The rows of each token, and how many of the first columns count."""
        chosen.write(rows, lengths)

    def plan(self, batch):
        return SparsePrefillPlan(batch, self)


class SparsePrefillPlan(Plan):
    COLUMNS = 128  # of which lists are multiples

    def bind(self, batch, backend):
        torch, self.backend, topk = self.torch, backend, self.problem.topk
        tokens, heads, dim = self.q.shape
        self.chosen, self.q_in = ChosenRows(batch), with_all_heads(self.q)
        self.rows = torch.full((tokens, 1, -(-topk // self.COLUMNS) * self.COLUMNS), -1, dtype=torch.int32,
                               device=self.q.device)
        self.lengths = torch.empty(tokens, dtype=torch.int32, device=self.q.device)
        self.forward = backend.operators.sparse_prefill_fwd.default
        self.arguments = (self.q_in, self.k_cache.view(-1, 1, dim), self.rows, self.logit_scale(batch),
                          self.problem.head_dim_v, None, self.lengths)
        if backend.writes_out:
            self.arguments += (self.out if self.q_in is self.q else None,)

    def prepare(self, batch):
        self.chosen.take(batch)

    def launch(self):
        heads = self.q.shape[1]
        self.backend.write_lists(self.chosen, self.rows[:, 0], self.lengths)
        if self.q_in is not self.q:
            self.q_in[:, :heads].copy_(self.q)
        out, _, lse = self.forward(*self.arguments)
        if self.arguments[-1] is not self.out:
            self.out.copy_(out[:, :heads])
        if self.backend.with_lse:
            self.lse.copy_(lse[:, :heads])
            self.lse.masked_fill_(self.lse == float("inf"), -float("inf"))  # where a list is empty
