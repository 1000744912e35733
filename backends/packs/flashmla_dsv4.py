# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashMLA over DeepSeek-V4's rows, as vLLM's FLASHMLA_SPARSE_DSV4 calls it: a window beside compressed rows."""
from compressed_rows import CompressedRows
from engine_tools import Plan, first_reason, no_latent_attention, with_values
from flashmla_sparse import with_all_heads
from vllm_flashmla import FlashMla
from vllm_wheel import FLASH_MLA, WITH_TRITON

KEYS = 128  # of which lists are multiples; -1 fills them up


def no_rows_of_deepseek_v4(problem):
    """Why a layer has no rows of 512 that are all K and all V, behind a window; None where it has."""
    like_v3 = with_values(problem, head_dim_qk=576, sliding_window_size=-1, has_sinks=False, cache_scales="tensor")
    return first_reason(
        ((problem.head_dim_qk, problem.head_dim_v) != (512, 512), "rows of 512 numbers only, all of them key and value"),
        (problem.compress_ratio == 0 and problem.topk > 0, "lists of compressed rows only"),
        (problem.sliding_window_size < 0, "layers with a window only")) or no_latent_attention(like_v3, no_fp8=None)


def sinks_of(plan):
    """The sinks of the heads that the kernel is given; heads that are added have none."""
    if plan.sinks is None:
        return None
    sinks = plan.sinks.new_full(plan.q_in.shape[-2:-1], -float("inf"))
    sinks[:len(plan.sinks)].copy_(plan.sinks)
    return sinks


def columns_for(keys):
    """Columns of a list with so many."""
    return max(-(-keys // KEYS), 1) * KEYS


class Dsv4Prefill:
    """Engines widen a prompt's rows of 584 bytes into bf16 first."""
    name = "vllm:flashmla_dsv4_prefill"
    description = ("FlashMLA's sparse prefill over DeepSeek-V4's rows in bf16, compressed ones and a window of tokens in one "
                   "list for each query token")
    requires = WITH_TRITON
    kernel = "_flashmla_C.sparse_prefill_fwd"
    calls = {FLASH_MLA: "sparse_prefill_fwd"}
    index_format = "topk_indices, req_to_token"
    device = "cuda"
    graph_support = "UNIFORM_BATCH"
    reads_queries_apart = True
    reads_selection = True
    reads_lists_at_run = True
    reads_compressed_rows = True
    formats = ["NHD"]
    with_lse = False

    load = FlashMla.load

    def supports(self, problem):
        return no_rows_of_deepseek_v4(problem) or first_reason(
            ((problem.dtype, problem.cache_dtype) != ("bf16", "bf16"), "rows in bf16 only: engines widen those of fp8 first"),
            (problem.heads_q > 128, "128 query heads at most"))

    def numerics(self, problem):
        return {"p": "bf16", "lse": self.with_lse}

    def plan(self, batch):
        return Dsv4PrefillPlan(batch, self)


class Dsv4PrefillPlan(Plan):
    def bind(self, batch, backend):
        torch, self.backend = self.torch, backend
        tokens, _, dim = self.q.shape
        self.seen, self.q_in = CompressedRows(batch), with_all_heads(self.q)
        width = columns_for(self.seen.most_rows + self.seen.window)
        self.rows = torch.full((tokens, 1, width), -1, dtype=torch.int32, device=self.q.device)
        self.lengths = torch.empty(tokens, dtype=torch.int32, device=self.q.device)
        self.forward = backend.operators.sparse_prefill_fwd.default
        self.arguments = (self.q_in, self.k_cache.view(-1, 1, dim), self.rows, self.logit_scale(batch),
                          self.problem.head_dim_v, sinks_of(self), self.lengths, self.out if self.q_in is self.q else None)

    def prepare(self, batch):
        self.seen.take(batch)
        self.seen.write(self.rows[:, 0], self.lengths)

    def launch(self):
        heads = self.q.shape[1]
        if self.seen.has_lists:
            self.seen.write(self.rows[:, 0], self.lengths)
        if self.q_in is not self.q:
            self.q_in[:, :heads].copy_(self.q)
        out, _, lse = self.forward(*self.arguments)
        if self.q_in is not self.q:
            self.out.copy_(out[:, :heads])
        if self.backend.with_lse:
            self.lse.copy_(lse[:, :heads])
            self.lse.masked_fill_(self.lse == float("inf"), -float("inf"))  # where a list is empty
