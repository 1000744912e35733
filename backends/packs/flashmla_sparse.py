# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashMLA's sparse decode of latent attention, as vLLM's wheel has it."""
from engine_tools import first_reason, no_latent_attention, with_values
from vllm_flashmla import FlashMla, FlashMlaPlan
from vllm_wheel import FLASH_MLA, REQUIRES


class FlashMlaSparse:
    """Rows of 656 bytes are read by the kernel for DeepSeek-V3.2's chosen keys alone. It is given all of a query's, as
    vLLM gives them to it where there are fewer than are chosen."""
    name = "vllm:flashmla_sparse"
    description = "FlashMLA's sparse decode over latent rows with scales of blocks, given every key of each query"
    requires = REQUIRES
    kernel = "_flashmla_C.sparse_decode_fwd"
    calls = {FLASH_MLA: "sparse_decode_fwd"}
    index_format = "indices"
    device = "cuda"
    graph_support = "UNIFORM_BATCH"
    reads_queries_apart = True
    formats = ["NHD"]
    with_lse = False

    load = FlashMla.load

    def supports(self, problem):
        blocks = problem.cache_scales == "block"
        return first_reason((not blocks, "rows with scales of blocks only (fp8_ds_mla)")) or no_latent_attention(
            with_values(problem, cache_scales="tensor"), no_fp8=None) or first_reason(
            (problem.mode not in ("decode", "target_verify"), f"decodes and chains of drafts only, not {problem.mode}"),
            (problem.page_size != 64, f"pages of 64 tokens, not {problem.page_size}"),
            (problem.dtype != "bf16", "queries in bf16 only"),
            (problem.heads_q > 128, "128 query heads at most"))

    def numerics(self, problem):
        return {"qk_input": "bf16", "p": "bf16", "lse": self.with_lse}  # rows are widened to bf16

    def plan(self, batch):
        return FlashMlaSparsePlan(batch, self)


class FlashMlaSparsePlan(FlashMlaPlan):
    KEYS = 128  # of which lists are multiples; -1 fills them up

    def bind(self, batch, backend):
        import numpy
        super().bind(batch, backend)
        torch, self.numpy = self.torch, numpy
        requests, q_len, heads, dim = self.q.shape
        # It is compiled for 64 and 128 heads; vLLM adds heads of zeros.
        most = 64 if heads <= 64 else 128
        self.q_in = self.q if heads == most else torch.zeros((requests, q_len, most, dim), dtype=self.q.dtype,
                                                             device="cuda")
        keys = -(-max(self.longest(batch)[1], 1) // self.KEYS) * self.KEYS
        self.keys = torch.full((requests, q_len, keys), -1, dtype=torch.int32, device="cuda")
        self.forward = self.operators.sparse_decode_fwd.default
        # The schedule follows from the shapes alone: a call over no keys makes it.
        self.schedule = self.forward(*self.given(batch, None, None))[2:]

    def given(self, batch, *schedule):
        rest = (None, None, None)  # further keys, which DeepSeek-V4 has
        return (self.q_in, self.k_cache, self.keys, None, None, *schedule, *rest, self.problem.head_dim_v,
                self.problem.scale, None)

    def prepare(self, batch):
        table = {name: array.numpy() for name, array in batch.indices("req_to_token", host=True).items()}
        slots = table["req_to_token"][table["req_pool_indices"]]
        q_len = self.keys.shape[1]
        places = self.numpy.arange(self.keys.shape[2])
        seen = self.numpy.asarray(batch.kv_lens)[:, None] - q_len + 1 + self.numpy.arange(q_len)  # keys of each query
        width = min(slots.shape[1], len(places))
        lists = self.numpy.full(self.keys.shape, -1, dtype=self.numpy.int32)
        lists[:, :, :width] = slots[:, None, :width]
        lists[places >= seen[:, :, None]] = -1
        self.keys.copy_(self.torch.from_numpy(lists))
        self.arguments = self.given(batch, *self.schedule)

    def launch(self):
        heads = self.q.shape[2]
        if self.q_in is not self.q:
            self.q_in[:, :, :heads].copy_(self.q)
        out, lse = self.forward(*self.arguments)[:2]
        self.out.copy_(out[:, :, :heads])
        self.give_lse(lse[:, :heads])
