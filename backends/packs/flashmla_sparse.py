# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashMLA's sparse decode of latent attention, as vLLM's wheel has it."""
from chosen_rows import ChosenRows, no_lists_of_keys
from engine_tools import first_reason, no_latent_attention, with_values
from vllm_flashmla import FlashMla, FlashMlaPlan
from vllm_wheel import FLASH_MLA, WITH_TRITON


def with_all_heads(q):
    """Queries for a kernel that is compiled for 64 and 128 heads: themselves, or zeros of so many heads, as engines have
    them, into whose first each run copies them."""
    *tokens, heads, dim = q.shape
    most = 64 if heads <= 64 else 128
    return q if heads == most else q.new_zeros((*tokens, most, dim))


class FlashMlaSparse:
    """Rows of 656 bytes are read by the kernel for DeepSeek-V3.2's chosen keys only. A layer without a selection gives it
    all keys of a query, as engines do where there are fewer than are chosen."""
    name = "vllm:flashmla_sparse"
    description = ("FlashMLA's sparse decode over latent rows with scales of blocks, given the chosen keys, or every key of "
                   "each query where a layer chooses none")
    requires = WITH_TRITON
    kernel = "_flashmla_C.sparse_decode_fwd"
    calls = {FLASH_MLA: "sparse_decode_fwd"}
    index_format = "indices"
    device = "cuda"
    graph_support = "UNIFORM_BATCH"
    reads_queries_apart = True
    reads_selection = True
    reads_lists_at_run = True
    formats = ["NHD"]
    with_lse = False

    load = FlashMla.load

    def is_one_batch(self, problem):
        """Below MIN_HEADS_FOR_BF16_PREFILL vLLM gives it a step of chosen keys, prompts included, as one request. Of more
        heads it widens prompts' rows to bf16, for the sparse prefill."""
        return problem.topk > 0 and problem.heads_q < 32

    def requests_of(self, batch):
        """As how many requests, each with its part of the tokens, the kernel is given a step."""
        return 1 if self.is_one_batch(batch.problem) else batch.batch_size

    def no_step(self, problem):
        if self.is_one_batch(problem):
            return first_reason((problem.max_q_tokens > 65535, "65535 query tokens at most: each is a row of its grid"))
        return first_reason(
            (problem.mode not in ("decode", "target_verify") and problem.topk > 0,
             "prompts over chosen keys below 32 query heads only: vLLM widens their rows to bf16 for more"),
            (problem.mode not in ("decode", "target_verify"), f"decodes and chains of drafts only, not {problem.mode}"))

    def supports(self, problem):
        blocks = problem.cache_scales == "block"
        return first_reason((not blocks, "rows with scales of blocks only (fp8_ds_mla)")) or no_latent_attention(
            with_values(problem, cache_scales="tensor"), no_fp8=None) or no_lists_of_keys(problem) or self.no_step(
            problem) or first_reason(
            (problem.page_size != 64, f"pages of 64 tokens, not {problem.page_size}"),
            (problem.dtype != "bf16", "queries in bf16 only"),
            (problem.heads_q > 128, "128 query heads at most"))

    def numerics(self, problem):
        return {"qk_input": "bf16", "p": "bf16", "lse": self.with_lse}  # rows are widened to bf16

    def plan(self, batch):
        return FlashMlaSparsePlan(batch, self)


class FlashMlaSparsePlan(FlashMlaPlan):
    """Over these rows the kernel refuses topk_length: columns that do not count are -1."""
    KEYS = 128  # of which lists are multiples; -1 fills them up
    chosen = None  # the rows of a selection

    def bind(self, batch, backend):
        import numpy
        super().bind(batch, backend)
        torch, self.numpy = self.torch, numpy
        requests, q_len = self.q.shape[:2]
        self.q_in = with_all_heads(self.q)
        if self.problem.topk > 0:
            self.chosen = ChosenRows(batch)
        most_keys = self.problem.topk or max(self.longest(batch)[1], 1)
        self.keys = torch.full((requests, q_len, -(-most_keys // self.KEYS) * self.KEYS), -1, dtype=torch.int32,
                               device="cuda")
        self.forward = self.operators.sparse_decode_fwd.default
        # The schedule follows from the shapes alone: a call over no keys makes it.
        self.schedule = self.forward(*self.given(batch, None, None))[2:]

    def given(self, batch, *schedule):
        rest = (None, None, None)  # further keys, which DeepSeek-V4 has
        return (self.q_in, self.k_cache, self.keys, None, None, *schedule, *rest, self.problem.head_dim_v,
                self.problem.scale, None)

    def every_key(self, batch):
        """The keys that each query sees, in the columns of self.keys."""
        table = {name: array.numpy() for name, array in batch.indices("req_to_token", host=True).items()}
        slots = table["req_to_token"][table["req_pool_indices"]]
        q_len = self.keys.shape[1]
        places = self.numpy.arange(self.keys.shape[2])
        seen = self.numpy.asarray(batch.kv_lens)[:, None] - q_len + 1 + self.numpy.arange(q_len)  # keys of each query
        width = min(slots.shape[1], len(places))
        lists = self.numpy.full(self.keys.shape, -1, dtype=self.numpy.int32)
        lists[:, :, :width] = slots[:, None, :width]
        lists[places >= seen[:, :, None]] = -1
        return self.torch.from_numpy(lists)

    def prepare(self, batch):
        if self.chosen is None:
            self.keys.copy_(self.every_key(batch))
        else:
            self.chosen.take(batch)
        self.arguments = self.given(batch, *self.schedule)

    def launch(self):
        heads = self.q.shape[2]
        if self.chosen is not None:  # what lies behind them stays -1
            self.chosen.write(self.keys.view(-1, self.keys.shape[2]))
        if self.q_in is not self.q:
            self.q_in[:, :, :heads].copy_(self.q)
        out, lse = self.forward(*self.arguments)[:2]
        self.out.copy_(out[:, :, :heads])
        self.give_lse(lse[:, :heads])
