# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashInfer's wrappers. plan() is theirs; a recorded plan is planned again into the same buffers, as engines do.

What a problem needs is compiled when it is planned first, which takes some 20 s: with FLASHINFER_CUDA_ARCH_LIST=9.0a
nothing is compiled for other GPUs. Its LSE is to base 2: the variants NAME:lse make a natural logarithm of it.
"""
import math

from engine_tools import (FP8, Plan, first_reason, no_latent_attention, no_paged_attention, reserved, step_of,
                          with_lse_variants, with_values)

LN2 = math.log(2)
# Split results are stored in the output's type, and the threads that merge them exchange theirs in that type again:
# threadblock_sync_state() in attention/cascade.cuh.
PARTIAL = {"partial_roundings": 2}
# Bytes: what SGLang takes, what it takes for Qwen, and what it takes for deterministic inference.
WORKSPACES = {"workspace": ([384 << 20, 512 << 20, 2048 << 20], "SGLANG_FLASHINFER_WORKSPACE_SIZE=")}
# Keys of a piece where SGLang's inference is deterministic; where it records graphs it then splits nothing.
SPLIT_TILES = [1024, 2048, 4096, 8192]
SPLIT_FLAG = "--enable-deterministic-inference, SGLANG_FLASHINFER_{}_SPLIT_TILE_SIZE="


class FlashInfer:
    """A backend of one kernel. What its wrapper is made with, `template`, is FlashInfer's word for it."""
    requires = {"flashinfer-python": "0.6.9", "torch": "2.11.0"}
    index_format = "csr"
    device = "cuda"
    graph_support = "UNIFORM_SINGLE_TOKEN_DECODE"
    template = "fa2"
    modes = ("decode",)
    head_dims = ((64, 64), (128, 128), (256, 256))
    groups = None  # how many query heads may share a KV head; None: any number
    fp8_cache = True
    trees = sinks = chunks = False
    with_lse = False
    workspace = 128 << 20  # bytes that results between stages may take: FlashInfer's advice
    split_tile = None  # keys of a piece; None: as its planner decides
    disable_split_kv = False

    def load(self):
        import flashinfer
        self.library = flashinfer

    def supports(self, problem):
        dims, group = (problem.head_dim_qk, problem.head_dim_v), problem.heads_q // max(problem.heads_kv, 1)
        return no_paged_attention(problem, trees=self.trees, sinks=self.sinks, chunks=self.chunks) or first_reason(
            (step_of(problem) not in self.modes, f"{' and '.join(self.modes)} steps only, not {problem.mode}"),
            (self.split_tile and self.split_tile % problem.page_size != 0,
             f"a piece of {self.split_tile} keys is no whole number of pages of {problem.page_size}"),
            (problem.mode == "decode" and problem.max_q_len > 1, "decodes of one token only"),
            (problem.cache_dtype != problem.dtype and not (self.fp8_cache and problem.cache_dtype in FP8),
             "a cache of the queries' type" + (", or fp8" if self.fp8_cache else "")),
            (problem.cache_scales != "tensor", "scales of a whole tensor only"),
            (dims not in self.head_dims, f"head dims {dims[0]}/{dims[1]} are not among "
             + ", ".join(f"{qk}/{v}" for qk, v in self.head_dims)),
            (self.groups and group not in self.groups, f"{group} query heads per KV head are not among "
             + ", ".join(map(str, self.groups or ()))),
            (step_of(problem) == "target_verify" and problem.window_counts_depth and problem.sliding_window_size >= 0,
             "a tree's window by depth: this one counts places among the keys"))

    def numerics(self, problem):
        return {"p": problem.dtype, **PARTIAL, "partial_out": problem.dtype, "lse": self.with_lse}

    def plan(self, batch):
        return self.plans(batch, self)


def splitting(backend, problem):
    """What plan() of a wrapper is told of how to cut keys: nothing, unless a variant says it."""
    if backend.disable_split_kv or backend.split_tile and problem.recorded:
        return {"disable_split_kv": True}
    return {"fixed_split_size": backend.split_tile // problem.page_size} if backend.split_tile else {}


class WrapperPlan(Plan):
    """A subclass makes a wrapper and plans it."""

    def bind(self, batch, backend):
        import numpy
        self.numpy, self.backend, self.library = numpy, backend, backend.library
        (self.memory,) = reserved(batch, ((backend.workspace,), self.torch.uint8))  # of all of its wrappers
        self.layout = "HND" if self.problem.cache_layout == "HND" else "NHD"
        swap = (lambda x: x.transpose(1, 2)) if self.layout == "HND" else lambda x: x
        self.cache = (swap(self.k_cache), swap(self.v_cache))  # its own order of dimensions
        self.types = {"q_data_type": self.q.dtype, "kv_data_type": self.k_cache.dtype}
        requests = batch.batch_size
        self.pages = -(-self.longest(batch)[1] // self.problem.page_size)  # of the longest request
        if self.problem.recorded:
            self.buffers = {"qo_indptr": self.ints(requests + 1), "kv_indptr": self.ints(requests + 1),
                            "kv_indices": self.ints(requests * self.pages), "last": self.ints(requests)}
        self.make(batch)

    def ints(self, count):
        return self.torch.zeros(count, dtype=self.torch.int32, device="cuda")

    def indices(self, batch):
        """csr, with what the planner reads in host memory and the pages on the GPU. Both are the step's own."""
        here, there = batch.indices("csr", host=True), batch.indices("csr")
        arrays = {name: self.torch.from_numpy(array.numpy()) for name, array in here.items()}
        return arrays | {"kv_indices": there["kv_indices"].torch()}

    def make(self, batch):
        raise NotImplementedError

    def forward(self, wrapper, out, lse=None):
        return wrapper.run(self.q, self.cache, k_scale=self.k_scale, v_scale=self.v_scale, out=out, lse=lse,
                           return_lse=lse is not None)

    def schedule(self, batch):
        self.k_scale, self.v_scale = batch.k_scale, batch.v_scale
        problem = self.problem
        self.layer = {"sm_scale": problem.scale, "window_left": self.window,
                      "logits_soft_cap": problem.logit_cap, **self.types}
        self.heads = (problem.heads_q, problem.heads_kv, problem.head_dim_qk)

    def launch(self):
        if self.backend.with_lse:
            self.forward(self.wrapper, self.out, self.lse)
            self.lse.mul_(LN2)
        else:
            self.forward(self.wrapper, self.out)


class DecodePlan(WrapperPlan):
    def make(self, batch):
        buffers = {} if not self.problem.recorded else {
            "use_cuda_graph": True, "paged_kv_indptr_buffer": self.buffers["kv_indptr"],
            "paged_kv_indices_buffer": self.buffers["kv_indices"],
            "paged_kv_last_page_len_buffer": self.buffers["last"]}
        self.wrapper = self.library.BatchDecodeWithPagedKVCacheWrapper(
            self.memory, self.layout, use_tensor_cores=self.backend.tensor_cores,
            backend=self.backend.template, **buffers)

    def prepare(self, batch):
        self.schedule(batch)
        csr = self.indices(batch)
        self.wrapper.plan(csr["kv_indptr"], csr["kv_indices"], csr["kv_last_page_len"], *self.heads,
                          self.problem.page_size, **splitting(self.backend, self.problem), **self.layer)


class Decode(FlashInfer):
    name = "flashinfer:decode"
    description = "FlashInfer's paged decode on CUDA cores"
    kernel = "BatchDecodeWithPagedKVCacheWrapper"
    chunks = True
    tuning = WORKSPACES
    groups = (1, 2, 3, 4, 8)
    tensor_cores = False
    plans = DecodePlan

    def numerics(self, problem):
        return {**PARTIAL, "partial_out": problem.dtype, "lse": self.with_lse}


class DecodeTensorCores(FlashInfer):
    name = "flashinfer:decode_tc"
    description = "FlashInfer's paged decode on tensor cores: its prefill with one query"
    kernel = "BatchDecodeWithPagedKVCacheWrapper, use_tensor_cores"
    chunks = True
    tuning = {**WORKSPACES, "split_tile": (SPLIT_TILES, SPLIT_FLAG.format("DECODE")),
              "disable_split_kv": ([1], "")}
    tensor_cores = True
    plans = DecodePlan


class PrefillPlan(WrapperPlan):
    def bind(self, batch, backend):
        self.mask = step_of(batch.problem) == "target_verify"  # chains are as causal as prompts
        super().bind(batch, backend)

    def make(self, batch):
        buffers = {}
        if self.problem.recorded:
            most_keys = self.problem.max_q_len * self.problem.max_kv_len
            buffers = {"use_cuda_graph": True, "qo_indptr_buf": self.buffers["qo_indptr"],
                       "paged_kv_indptr_buf": self.buffers["kv_indptr"],
                       "paged_kv_indices_buf": self.buffers["kv_indices"],
                       "paged_kv_last_page_len_buf": self.buffers["last"]}
            if self.mask:
                buffers["custom_mask_buf"] = self.torch.zeros(batch.batch_size * -(-most_keys // 8),
                                                              dtype=self.torch.uint8, device="cuda")
                buffers["mask_indptr_buf"] = self.ints(batch.batch_size + 1)
        self.wrapper = self.library.BatchPrefillWithPagedKVCacheWrapper(
            self.memory, self.layout, backend=self.backend.template, **buffers)

    def prepare(self, batch):
        self.schedule(batch)
        csr, mask = self.indices(batch), {}
        if self.mask:
            # It packs the mask into bits itself, on the GPU, where the arrays then have to be as well.
            csr = {name: array.torch() for name, array in batch.indices("csr").items()}
            mask["custom_mask"] = batch.tensor("custom_mask").torch().view(self.torch.bool)
        self.wrapper.plan(csr["qo_indptr"], csr["kv_indptr"], csr["kv_indices"], csr["kv_last_page_len"], *self.heads,
                          self.problem.page_size, causal=self.causal, head_dim_vo=self.problem.head_dim_v,
                          **splitting(self.backend, self.problem), **mask, **self.layer)


class PrefillFa2(FlashInfer):
    name = "flashinfer:prefill_fa2"
    description = "FlashInfer's paged prefill, FlashAttention 2's design; draft trees by a mask of bits"
    kernel = "BatchPrefillWithPagedKVCacheWrapper, fa2"
    graph_support = "UNIFORM_BATCH"
    modes = ("extend", "mixed", "draft_extend", "target_verify")
    trees = chunks = True
    tuning = {**WORKSPACES, "split_tile": (SPLIT_TILES, SPLIT_FLAG.format("PREFILL")),
              "disable_split_kv": ([1], "")}
    plans = PrefillPlan


class PrefillFa3(FlashInfer):
    name = "flashinfer:prefill_fa3"
    description = "FlashInfer's paged prefill, FlashAttention 3's design"
    kernel = "BatchPrefillWithPagedKVCacheWrapper, fa3"
    graph_support = "NEVER"
    template = "fa3"
    modes = ("extend", "mixed", "draft_extend")
    fp8_cache = False
    chunks = True
    tuning = WORKSPACES
    plans = PrefillPlan

    def numerics(self, problem):
        return {"p": problem.dtype, "lse": self.with_lse}  # it splits no keys


class RaggedPagedPlan(WrapperPlan):
    """SGLang's prompts: the new keys as they are, then the cached ones by token slots, in pages of 1, merged. Without a
    cached prefix in the batch only the former."""
    follows = False

    def make(self, batch):
        memory, library = self.memory, self.library
        self.wrapper = library.BatchPrefillWithRaggedKVCacheWrapper(memory, "NHD", backend="auto")
        self.prefix = library.BatchPrefillWithPagedKVCacheWrapper(memory, "NHD", backend="fa2")
        self.new = [batch.tensor(role).torch() for role in ("k_new", "v_new")]
        self.cache = tuple(cache.view(-1, 1, *cache.shape[2:]) for cache in (self.k_cache, self.v_cache))
        self.out_prefix, self.lse_prefix = self.torch.empty_like(self.out), self.torch.empty_like(self.lse)

    def prepare(self, batch):
        self.schedule(batch)
        here = {name: self.torch.from_numpy(array.numpy()) for name, array in
                batch.indices("csr_prefix", host=True).items()}
        starts = here["qo_indptr"]
        self.wrapper.plan(starts, starts, *self.heads, head_dim_vo=self.problem.head_dim_v, causal=True, **self.layer)
        self.has_prefix = bool(here["kv_indptr"][-1] > 0)
        if self.has_prefix:
            slots = batch.indices("csr_prefix")["kv_indices"].torch()
            last = self.torch.ones(batch.batch_size, dtype=self.torch.int32)
            self.prefix.plan(starts, here["kv_indptr"], slots, last, *self.heads, 1, causal=False, **self.layer)

    def launch(self):
        self.wrapper.run(self.q, *self.new, out=self.out, lse=self.lse, return_lse=True)
        if self.has_prefix:
            self.forward(self.prefix, self.out_prefix, self.lse_prefix)
            self.library.merge_state_in_place(self.out, self.lse, self.out_prefix, self.lse_prefix)
        if self.backend.with_lse:
            self.lse.mul_(LN2)


class RaggedPlan(WrapperPlan):
    """Ragged keys alone."""
    follows = False

    def make(self, batch):
        self.wrapper = self.library.BatchPrefillWithRaggedKVCacheWrapper(self.memory, "NHD", backend="auto")

    def prepare(self, batch):
        self.schedule(batch)
        here = batch.indices("varlen", host=True)
        starts = [self.torch.from_numpy(here[name].numpy()) for name in ("cu_seqlens_q", "cu_seqlens_k")]
        scale = {"sm_scale": self.logit_scale(batch)}
        self.wrapper.plan(*starts, *self.heads, head_dim_vo=self.problem.head_dim_v, causal=self.causal,
                          **self.layer | scale)

    def forward(self, wrapper, out, lse=None):
        return wrapper.run(self.q, self.k_cache, self.v_cache, out=out, lse=lse, return_lse=lse is not None)


class SinkPlan(PrefillPlan):
    """A kernel that FlashInfer makes of its prefill and a few lines that add the sink to the sum of weights."""
    follows = False

    def make(self, batch):
        self.wrapper = self.library.BatchAttentionWithAttentionSinkWrapper(
            self.memory, self.layout, backend=self.backend.template, q_data_type=self.q.dtype,
            kv_data_type=self.k_cache.dtype, head_dim_qk=self.problem.head_dim_qk, head_dim_vo=self.problem.head_dim_v,
            window_left=self.window)

    def prepare(self, batch):
        super().prepare(batch)
        self.scale = self.logit_scale(batch)

    def launch(self):
        self.wrapper.run(self.q, self.cache, self.sinks, self.scale, out=self.out)


class Sinks(FlashInfer):
    name = "flashinfer:sinks"
    description = "FlashInfer's attention with sinks, FlashAttention 3's design, for prompts and decodes"
    kernel = "BatchAttentionWithAttentionSinkWrapper, fa3"
    graph_support = "NEVER"
    template = "fa3"
    modes = ("decode", "extend", "mixed", "draft_extend")
    head_dims = ((64, 64), (128, 128))
    fp8_cache = False
    sinks = True
    plans = SinkPlan

    def supports(self, problem):
        return super().supports(problem) or first_reason(
            (not problem.has_sinks, "layers with sinks only"),
            (problem.logit_cap > 0, "no softcap"))

    def numerics(self, problem):
        return {"p": problem.dtype, "lse": False}


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


MOST_MERGED = 8192  # heads times head dim: the merge has a thread for each 8 numbers of a token, 1024 in all


class RaggedPaged(FlashInfer):
    name = "flashinfer:ragged_paged"
    description = "FlashInfer as SGLang calls it for prompts: new keys ragged, cached ones paged by token, merged"
    kernel = "BatchPrefillWithRaggedKVCacheWrapper, BatchPrefillWithPagedKVCacheWrapper fa2, merge_state_in_place"
    index_format = "csr_prefix"
    graph_support = "NEVER"
    modes = ("extend", "mixed", "draft_extend")
    fp8_cache = False  # the new keys would not be what is cached
    formats = ("NHD", "combined")
    plans = RaggedPagedPlan

    def supports(self, problem):
        return super().supports(problem) or first_reason(
            (not problem.causal or problem.is_cross_attention, "causal self-attention only"),
            (problem.sliding_window_size >= 0, "no window: SGLang takes the paged kernel there"),
            (problem.mode == "target_verify", "no drafts: SGLang verifies them over pages"),
            (problem.heads_q * problem.head_dim_v > MOST_MERGED, f"more than {MOST_MERGED} numbers a token to merge"))


class Ragged(FlashInfer):
    name = "flashinfer:ragged"
    description = "FlashInfer's prefill over ragged keys: prompts without a prefix, expanded MLA"
    kernel = "BatchPrefillWithRaggedKVCacheWrapper"
    index_format = "varlen"
    graph_support = "NEVER"
    modes = ("extend", "mixed", "draft_extend")
    head_dims = ((64, 64), (128, 128), (192, 128), (256, 256))
    fp8_cache = False
    formats = ("ragged",)
    plans = RaggedPlan

    def supports(self, problem):
        return super().supports(problem) or first_reason((problem.cache_layout != "ragged", "ragged keys only"))


class CascadePlan(WrapperPlan):
    """All queries over the pages that all requests begin with, then each request over its others, merged."""
    follows = False

    def make(self, batch):
        new = self.library.BatchPrefillWithPagedKVCacheWrapper
        self.prefix, self.wrapper = (new(self.memory, self.layout, backend="fa2") for _ in range(2))
        self.out_prefix, self.lse_prefix = self.torch.empty_like(self.out), self.torch.empty_like(self.lse)

    def shared_pages(self, batch, starts, pages):
        """How many pages all requests begin with; none of this step's own keys lies in them."""
        least = min(kv - q for q, kv in zip(batch.q_lens, batch.kv_lens)) // self.problem.page_size
        first = pages[starts[0]:starts[0] + least]
        for start in starts[1:-1]:
            same = self.numpy.flatnonzero(pages[start:start + len(first)] != first)
            first = first[:same[0]] if len(same) else first
        return len(first)

    def prepare(self, batch):
        self.schedule(batch)
        here = {name: array.numpy() for name, array in batch.indices("csr", host=True).items()}
        starts, pages = here["kv_indptr"], here["kv_indices"]
        shared = self.shared_pages(batch, starts, pages)
        self.has_prefix = shared > 0
        ints = lambda values: self.torch.from_numpy(self.numpy.asarray(values, dtype=self.numpy.int32))
        common = (*self.heads, self.problem.page_size)
        if self.has_prefix:
            prefix = ints(pages[starts[0]:starts[0] + shared]).cuda()
            self.prefix.plan(ints([0, batch.q_tokens]), ints([0, shared]), prefix, ints([self.problem.page_size]),
                             *common, causal=False, **self.layer)
        own = [pages[start + shared:end] for start, end in zip(starts[:-1], starts[1:])]
        self.wrapper.plan(ints(here["qo_indptr"]), ints(starts - shared * self.numpy.arange(len(starts))),
                          ints(self.numpy.concatenate(own)).cuda(), ints(here["kv_last_page_len"]), *common,
                          causal=True, **self.layer)

    def launch(self):
        self.forward(self.wrapper, self.out, self.lse)
        if self.has_prefix:
            self.forward(self.prefix, self.out_prefix, self.lse_prefix)
            self.library.merge_state_in_place(self.out, self.lse, self.out_prefix, self.lse_prefix)
        if self.backend.with_lse:
            self.lse.mul_(LN2)


class Cascade(FlashInfer):
    name = "flashinfer:cascade"
    description = "FlashInfer's cascade of two levels: the pages that all requests begin with are read once"
    kernel = "BatchPrefillWithPagedKVCacheWrapper, fa2; merge_state_in_place"
    graph_support = "NEVER"
    modes = ("decode", "extend", "mixed")
    plans = CascadePlan

    def supports(self, problem):
        return super().supports(problem) or first_reason(
            (not problem.causal or problem.is_cross_attention, "causal self-attention only"),
            (problem.sliding_window_size >= 0, "no window: its levels would count from different ends"),
            (problem.heads_q * problem.head_dim_v > MOST_MERGED, f"more than {MOST_MERGED} numbers a token to merge"))


class MlaPlan(WrapperPlan):
    joins_queries = False

    def bind(self, batch, backend):
        self.parts = self.query_parts()
        self.q = self.parts[0]
        super().bind(batch, backend)

    def make(self, batch):
        buffers = {}
        if self.problem.recorded:
            buffers = {"use_cuda_graph": True, "qo_indptr": self.buffers["qo_indptr"],
                       "kv_indptr": self.buffers["kv_indptr"], "kv_indices": self.buffers["kv_indices"],
                       "kv_len_arr": self.buffers["last"]}
        self.wrapper = self.library.mla.BatchMLAPagedAttentionWrapper(
            self.memory, backend=self.backend.template, **buffers)
        latent = self.problem.head_dim_v
        rows = self.k_cache[:, :, 0]
        self.parts += rows[..., :latent], rows[..., latent:]

    def prepare(self, batch):
        problem = self.problem
        csr = self.indices(batch)
        lens = self.torch.tensor(batch.kv_lens, dtype=self.torch.int32)
        latent = problem.head_dim_v
        self.wrapper.plan(csr["qo_indptr"], csr["kv_indptr"], csr["kv_indices"], lens, problem.heads_q, latent,
                          problem.head_dim_qk - latent, problem.page_size, problem.mode != "decode",
                          self.logit_scale(batch), self.q.dtype, self.k_cache.dtype)

    def launch(self):
        if self.backend.with_lse:
            self.wrapper.run(*self.parts, out=self.out, lse=self.lse, return_lse=True, return_lse_base_on_e=True)
        else:
            self.wrapper.run(*self.parts, out=self.out)


class MlaFa2(FlashInfer):
    name = "flashinfer:mla_fa2"
    description = "FlashInfer's absorbed MLA over pages, FlashAttention 2's design"
    kernel = "BatchMLAPagedAttentionWrapper, fa2"
    modes = ("decode", "extend", "mixed", "draft_extend")
    graph_support = "UNIFORM_BATCH"
    tuning = WORKSPACES
    plans = MlaPlan
    reads_queries_apart = True

    def supports(self, problem):
        no_fp8 = "no fp8 cache: FlashInfer 0.6.9's MLA has no scale for one"
        return no_latent_attention(problem, no_fp8) or first_reason(
            (step_of(problem) not in self.modes, f"{' and '.join(self.modes)} steps only, not {problem.mode}"))


class MlaFa3(MlaFa2):
    name = "flashinfer:mla_fa3"
    description = "FlashInfer's absorbed MLA over pages, FlashAttention 3's design"
    kernel = "BatchMLAPagedAttentionWrapper, fa3"
    template = "fa3"


backends = [*with_lse_variants(Decode, DecodeTensorCores, PrefillFa2, PrefillFa3, RaggedPaged, Ragged, Cascade,
                               MlaFa2, MlaFa3), Sinks, Xqa]
