# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""A paged decode of our own in Triton: how a kernel becomes a backend. triton_example_kernels.py has the kernels.

    attnbench run scenarios/decode.yaml --plugin packs/triton_example --python PYTHON
"""


class PagedDecode:
    name = "triton_example:paged_decode"  # pack:kernel
    requires = {"triton": "3.6.0", "torch": "2.11.0"}  # without them it is listed as absent, with pip's command line
    kernel = "attend_split, merge_splits"
    description = "split-KV decode over a block table, two kernels in Triton: the teaching example"
    index_format = "page_table"
    device = "cuda"
    graph_support = "UNIFORM_SINGLE_TOKEN_DECODE"  # Plan.update() says why
    padding_seq_len = 0  # requests that fill a graph up need no key
    reads_page_gaps = True  # its kernel is given the strides of pages

    def load(self):
        """Imports what takes long or may fail, once, and not where backends are only listed."""
        global torch, torch_tools, kernels, triton
        import torch
        import torch_tools
        import triton
        import triton_example_kernels as kernels

    def supports(self, problem):
        if problem.family != "softmax" or problem.mode != "decode":
            return "decodes with keys and values of their own only"
        if not problem.causal or problem.is_cross_attention or problem.sliding_window_size >= 0:
            return "causal self-attention without a window only"
        if problem.attention_chunk > 0 or problem.dual_chunk_size > 0 or problem.temperature_len > 0:
            return "no chunked attention, no dual chunks, no temperature"
        if problem.logit_cap > 0 or problem.has_sinks or problem.has_alibi:
            return "no softcap, no sinks, no ALiBi"
        if problem.cache_dtype != problem.dtype or problem.dtype not in ("f16", "bf16"):
            return "f16 and bf16 only, and the cache in the same type"
        if problem.head_dim_qk != problem.head_dim_v or problem.head_dim_v not in (16, 32, 64, 128, 256):
            return "head dims 16, 32, 64, 128, 256 only, the same of keys and values"
        if problem.heads_q // problem.heads_kv > 64:
            return "at most 64 query heads a KV head: they are one program's"
        return None

    def numerics(self, problem):
        return {"p": problem.dtype}  # weights are rounded before they meet the values; all else is f32

    def plan(self, batch):
        return Plan(batch)


class Plan:
    PROGRAMS = 512  # about four for each multiprocessor of a large GPU

    def __init__(self, batch):
        problem = batch.problem
        q, k, v, out, lse = (batch.tensor(role).torch() for role in ("q", "k_cache", "v_cache", "out", "lse"))
        self.requests, self.heads, heads_kv, dim = batch.batch_size, problem.heads_q, problem.heads_kv, q.shape[2]
        if self.requests == 0:
            return
        table = batch.indices("page_table")  # arrays that stay where they are when a graph goes on to the next step
        block_table, seq_lens = table["page_table"].torch(), table["cache_seqlens"].torch()
        group = self.heads // heads_kv
        # The grid is recorded with a graph: it follows from the limits of the steps, not from this one's lengths.
        longest = problem.max_kv_len if problem.recorded else max(batch.kv_lens)
        wanted = min(self.PROGRAMS // (self.requests * heads_kv), longest // 256)
        splits = triton.next_power_of_2(max(1, min(wanted, 32)))
        part = torch.empty(self.requests, self.heads, splits, dim, device=q.device)
        part_lse = torch.empty(self.requests, self.heads, splits, device=q.device)
        self.grid = (self.requests, heads_kv, splits)
        self.split_arguments = (q, k, v, part, part_lse, block_table, seq_lens, problem.scale * batch.k_scale,
                                *q.stride()[:2], *k.stride()[:3], *v.stride()[:3], block_table.stride(0))
        rows = max(16, triton.next_power_of_2(group))
        keys = 64 if dim < 256 else 32  # read at once: they must fit into shared memory
        self.split_constants = dict(PAGE=problem.page_size, GROUP=group, ROWS=rows, DIM=dim, KEYS=keys)
        self.merge_arguments = (part, part_lse, out, lse, batch.v_scale, *out.stride()[:2], *lse.stride()[:2])
        self.merge_constants = dict(SPLITS=splits, DIM=dim)

    def run(self, stream):
        """Twice a launch. Triton compiles at the first one, when results are checked and nothing is timed yet."""
        if self.requests == 0:
            return
        with torch_tools.on(stream):
            kernels.attend_split[self.grid](*self.split_arguments, **self.split_constants)
            kernels.merge_splits[(self.requests, self.heads)](*self.merge_arguments, **self.merge_constants)

    def update(self, batch, stream):
        """The next step of a graph: block table and lengths change where they lie, and nothing else is read of them."""
        batch.indices("page_table")
        return True
