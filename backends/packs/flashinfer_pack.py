# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashInfer's wrappers. plan() is theirs; a recorded plan is planned again into the same buffers, as engines do.

What a problem needs is compiled when it is planned first, which takes some 20 s: with FLASHINFER_CUDA_ARCH_LIST=9.0a
nothing is compiled for other GPUs. Its LSE is to base 2: the variants NAME:lse make a natural logarithm of it.
"""
from engine_tools import first_reason, step_of, with_lse_variants
from flashinfer_mla import MlaFa2, MlaFa3
from flashinfer_ragged import Cascade, Ragged, RaggedPaged
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
    kernel = "BatchDecodeWithPagedKVCacheWrapper, use_tensor_cores"
    calls = {DECODE: DECODE_WRAPPER}
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


backends = [*with_lse_variants(Decode, DecodeTensorCores, PrefillFa2, PrefillFa3, RaggedPaged, Ragged, Cascade,
                               MlaFa2, MlaFa3), Sinks, Xqa]
