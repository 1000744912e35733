# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""vLLM's first paged attention, and the words and forms of the cache that it reads."""
from engine_packages import arguments_of
from engine_tools import Plan, alibi_slopes, first_reason, no_paged_attention, reserved
from vllm_wheel import CORE, REQUIRES

CACHE_WORDS = {"e4m3": "fp8_e4m3", "e5m2": "fp8_e5m2"}  # else "auto": a cache of the type of what is written


def by_head(keys, heads):
    """The classic cache's keys [pages, heads * dim / x, page size, x] as [pages, heads, dim / x, page size, x]."""
    pages, rows, page_size, x = keys.shape
    return keys.view(pages, heads, rows // heads, page_size, x)


class PagedAttention:
    """vLLM's first kernels, over its classic cache. v1 takes all keys of a request at once, v2 parts of 512."""
    requires = {**REQUIRES, "vllm": "0.22.0"}  # later wheels leave them out
    index_format = "block_tables, seq_lens"
    device = "cuda"
    graph_support = "UNIFORM_SINGLE_TOKEN_DECODE"
    reads_page_gaps = True

    def load(self):
        CORE.load(self.calls[CORE])

    def supports(self, problem):
        return no_paged_attention(problem, alibi=True) or first_reason(
            (problem.mode != "decode" or problem.max_q_len > 1, "decodes of one token only"),
            (problem.sliding_window_size >= 0 or problem.logit_cap > 0 or problem.is_cross_attention,
             "no window, no softcap, no cross attention"),
            (problem.cache_dtype not in (problem.dtype, *CACHE_WORDS), "a cache of the queries' type, or fp8"),
            (problem.cache_scales != "tensor", "scales of a whole tensor only"),
            (problem.head_dim_qk != problem.head_dim_v, "keys and values of one head dim"),
            (problem.head_dim_qk not in (32, 64, 80, 96, 112, 120, 128, 192, 256),
             "head dims 32, 64, 80, 96, 112, 120, 128, 192, 256 only"),
            (problem.page_size not in (8, 16, 32), "pages of 8, 16 or 32 tokens only"),
            (self.parts is None and problem.max_kv_len > 8192, "v1 is taken up to 8192 keys; v2 takes more"))

    def formats(self, problem):
        return ["x_packed"] if problem.cache_scales == "tensor" else []

    def numerics(self, problem):
        """dot() of attention_generic.cuh rounds each product of a weight and a value; version 2 rounds what a part of
        the keys gives as well."""
        return {"lse": False, "p": problem.dtype, "partial_out": problem.dtype,
                "partial_roundings": 2 if self.parts else 1}

    def plan(self, batch):
        return PagedAttentionPlan(batch, self.parts)


class PagedAttentionV1(PagedAttention):
    name = "vllm:paged_attention_v1"
    description = "vLLM's first paged attention, on CUDA cores; all keys of a request in one block"
    kernel = "_C.paged_attention_v1"
    calls = {CORE: "paged_attention_v1"}
    parts = None


class PagedAttentionV2(PagedAttention):
    name = "vllm:paged_attention_v2"
    description = "vLLM's first paged attention, on CUDA cores; the keys in parts of 512, which are merged"
    kernel = "_C.paged_attention_v2"
    calls = {CORE: "paged_attention_v2"}
    parts = 512


class PagedAttentionPlan(Plan):
    def bind(self, batch, part):
        problem, torch = self.problem, self.torch
        keys, values = by_head(self.k_cache, problem.heads_kv), self.v_cache
        if problem.cache_dtype in CACHE_WORDS:
            keys, values = keys.view(torch.uint8), values.view(torch.uint8)
        scales = [torch.tensor([scale], device="cuda") for scale in (batch.k_scale, batch.v_scale)]
        # A request without keys has a row of zeros from both versions, whose grids take one key at least.
        longest = max(self.longest(batch)[1], 1)
        out = {"out": self.out}
        if part:
            shape = (batch.batch_size, problem.heads_q, -(-longest // part))
            parts = reserved(batch, (shape, torch.float32), (shape, torch.float32),
                             ((*shape, problem.head_dim_v), self.out.dtype))
            out |= zip(("exp_sums", "max_logits", "tmp_out"), parts)
        if problem.has_alibi:
            out["alibi_slopes"] = torch.tensor(alibi_slopes(problem), device="cuda")
        table = batch.indices("page_table")
        name = "paged_attention_v2" if part else "paged_attention_v1"
        self.forward = getattr(torch.ops._C, name).default
        self.arguments = arguments_of(
            self.forward, **out, query=self.q, key_cache=keys, value_cache=values,
            num_kv_heads=problem.heads_kv, scale=self.logit_scale(batch), block_tables=table["page_table"].torch(),
            seq_lens=table["cache_seqlens"].torch(), block_size=problem.page_size, max_seq_len=longest,
            kv_cache_dtype=CACHE_WORDS.get(problem.cache_dtype, "auto"), k_scale=scales[0], v_scale=scales[1],
            tp_rank=0,
            blocksparse_local_blocks=0, blocksparse_vert_stride=0, blocksparse_block_size=64,
            blocksparse_head_sliding_step=0)

    def prepare(self, batch):
        batch.indices("page_table")  # where it was

    def launch(self):
        self.forward(*self.arguments)
