# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashInfer's wrappers. plan() is theirs; a recorded plan is planned again into the same buffers, as engines do.

What a problem needs is compiled when it is planned first, which takes some 20 s: with FLASHINFER_CUDA_ARCH_LIST=9.0a
nothing is compiled for other GPUs. Its LSE is to base 2: the variants NAME:lse make a natural logarithm of it.
"""
from engine_tools import first_reason, step_of, with_lse_variants
from flashinfer_blackwell import CutlassMla, TrtllmGen
from flashinfer_mla import MlaFa2, MlaFa3
from flashinfer_ragged import Cascade, Ragged, RaggedPaged
from flashinfer_sparse_mla import SparseMla
from flashinfer_wrappers import (ATTENTION, DECODE, DECODE_WRAPPER, PAGED_WRAPPER, PARTIAL, PREFILL, WORKSPACES,
                                 FlashInfer, WrapperPlan, splitting)
from flashinfer_xqa import Xqa

# Keys of a piece where SGLang's inference is deterministic; where it records graphs it then splits nothing.
SPLIT_TILES = [1024, 2048, 4096, 8192]
SPLIT_FLAG = "--enable-deterministic-inference, SGLANG_FLASHINFER_{}_SPLIT_TILE_SIZE="


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
    alibi = True
    kernel = "BatchDecodeWithPagedKVCacheWrapper"
    calls = {DECODE: DECODE_WRAPPER}
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
    alibi = True
    kernel = "BatchDecodeWithPagedKVCacheWrapper, use_tensor_cores"
    calls = {DECODE: DECODE_WRAPPER}
    chunks = True
    tuning = {**WORKSPACES, "split_tile": (SPLIT_TILES, SPLIT_FLAG.format("DECODE")),
              "disable_split_kv": ([1], "")}
    tensor_cores = True
    plans = DecodePlan


class DecodeAuto(DecodeTensorCores):
    name = "flashinfer:decode_auto"
    description = "FlashInfer's paged decode, whose library chooses the kernel: tensor cores, backend auto"
    kernel = "BatchDecodeWithPagedKVCacheWrapper, use_tensor_cores, auto"
    template = "auto"
    alibi = False
    tuning = {}
    only_by_name = True  # a kernel that another backend has, chosen or planned in another way


class FastPlan(DecodePlan):
    """SGLang's replanning of a recorded decode: the arrays are in the wrapper's buffers already."""
    planned = False

    def prepare(self, batch):
        if not self.planned:
            super().prepare(batch)
            self.planned = self.problem.recorded
            return
        self.schedule(batch)
        here, there = batch.indices("csr", host=True), batch.indices("csr")
        starts, last = (self.torch.from_numpy(here[name].numpy()) for name in ("kv_indptr", "kv_last_page_len"))
        for name, buffer in (("kv_indptr", "kv_indptr"), ("kv_indices", "kv_indices"), ("kv_last_page_len", "last")):
            array = there[name].torch()
            self.buffers[buffer][:len(array)].copy_(array)
        self.backend.library.decode.fast_decode_plan(
            self.wrapper, self.buffers["kv_indptr"], there["kv_indices"].torch(), last, *self.heads,
            self.problem.page_size, global_override_indptr_cpu=starts, **self.layer)


class DecodeFastPlan(DecodeTensorCores):
    name = "flashinfer:decode_tc_fast_plan"
    description = "FlashInfer's paged decode on tensor cores; recorded ones planned again as SGLang does"
    kernel = "BatchDecodeWithPagedKVCacheWrapper, use_tensor_cores; fast_decode_plan"
    calls = {DECODE: f"{DECODE_WRAPPER} fast_decode_plan"}
    tuning = {}
    only_by_name = True
    plans = FastPlan


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
        if self.problem.multi_item:
            mask |= self.items(batch)
        self.wrapper.plan(csr["qo_indptr"], csr["kv_indptr"], csr["kv_indices"], csr["kv_last_page_len"], *self.heads,
                          self.problem.page_size, causal=self.causal, head_dim_vo=self.problem.head_dim_v,
                          **splitting(self.backend, self.problem), **mask, **self.layer)

    def items(self, batch):
        """multi_item_params, in the types that its kernel reads."""
        given, torch = batch.indices("multi_item"), self.torch
        return {"prefix_len_ptr": given["prefix_len_ptr"].torch().to(torch.uint32),
                "token_pos_in_items_ptr": given["token_pos_in_items_ptr"].torch().flatten().to(torch.uint16),
                "token_pos_in_items_len": given["token_pos_in_items_len"],
                "max_item_len_ptr": given["max_item_len_ptr"].torch().to(torch.uint16)}


class PrefillFa2(FlashInfer):
    name = "flashinfer:prefill_fa2"
    description = "FlashInfer's paged prefill, FlashAttention 2's design; draft trees by a mask of bits"
    kernel = "BatchPrefillWithPagedKVCacheWrapper, fa2"
    graph_support = "UNIFORM_BATCH"
    modes = ("extend", "mixed", "draft_extend", "target_verify")
    trees = chunks = alibi = True
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


class PrefillAuto(PrefillFa3):
    name = "flashinfer:prefill_auto"
    description = "FlashInfer's paged prefill, whose library chooses the design: fa3 on Hopper, fa2 over fp8 caches"
    kernel = "BatchPrefillWithPagedKVCacheWrapper, auto"
    template = "auto"
    fp8_cache = True
    tuning = {}
    only_by_name = True

    def numerics(self, problem):
        return FlashInfer.numerics(self, problem)


class Fp8PrefillPlan(PrefillPlan):
    """Queries in e4m3 as well, rounded here where they come in bf16."""

    def bind(self, batch, backend):
        self.q_given = self.q
        if batch.problem.q_dtype != "e4m3":
            self.q = self.torch.empty_like(self.q, dtype=self.k_cache.dtype)
        super().bind(batch, backend)
        self.types["o_data_type"] = self.out.dtype
        heads = (batch.problem.heads_q, batch.problem.heads_kv, batch.problem.heads_kv)
        self.scales = [self.torch.full((count,), scale, dtype=self.torch.float32, device="cuda")
                       for count, scale in zip(heads, (batch.q_scale, batch.k_scale, batch.v_scale))]

    def forward(self, wrapper, out, lse=None):
        if self.q is not self.q_given:
            self.q.copy_(self.q_given)
        return wrapper.run(self.q, self.cache, *self.scales, out=out, lse=lse, return_lse=lse is not None)


class PrefillFa3Fp8(PrefillFa3):
    name = "flashinfer:prefill_fa3_fp8"
    description = "FlashInfer's paged prefill over e4m3 caches, FlashAttention 3's design, with queries rounded to e4m3"
    kernel = "BatchPrefillWithPagedKVCacheWrapper, fa3, q and kv e4m3"
    fp8_cache = True
    chunks = False
    reads_fp8_queries = True
    tuning = {}
    plans = Fp8PrefillPlan

    def supports(self, problem):
        return super().supports(problem) or first_reason(
            (problem.cache_dtype != "e4m3", "e4m3 caches only"),
            (problem.dtype != "bf16", "outputs in bf16 only"),
            (problem.q_dtype == "e5m2", "queries in e4m3 only, of fp8"),
            (problem.q_scales != "tensor", "one scale for all queries only"))

    def numerics(self, problem):
        return {"qk_input": "e4m3", "p": "e4m3", "lse": self.with_lse}


class MultiItem(PrefillFa2):
    name = "flashinfer:multi_item"
    description = "FlashInfer's paged prefill with items to score, which see the prompt and themselves"
    kernel = "BatchPrefillWithPagedKVCacheWrapper, fa2, multi_item_params"
    modes = ("extend",)
    graph_support = "NEVER"
    trees = chunks = alibi = False
    items = True
    tuning = {}

    def supports(self, problem):
        return super().supports(problem) or first_reason(
            (not problem.multi_item, "requests that are scored by items only"),
            (not problem.causal or problem.sliding_window_size >= 0, "causal layers without windows only"))


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
    calls = {PREFILL: PAGED_WRAPPER, ATTENTION: "BatchAttentionWithAttentionSinkWrapper.__init__"}
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


backends = [*with_lse_variants(Decode, DecodeTensorCores, DecodeAuto, DecodeFastPlan, PrefillFa2, PrefillFa3,
                               PrefillAuto, PrefillFa3Fp8, MultiItem, RaggedPaged, Ragged, Cascade, MlaFa2, MlaFa3, SparseMla),
            Sinks, Xqa, TrtllmGen, CutlassMla]
