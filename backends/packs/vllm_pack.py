# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""The attention kernels of vLLM's wheel, loaded out of it without starting vLLM."""
from engine_packages import arguments_of
from engine_tools import Plan, alibi_slopes, first_reason, no_paged_attention, with_lse_variants
from fa4_pack import Vllm as Fa4
from flash_attention_3 import AbsorbedMla, FlashAttention3, RaggedPlan
from flashmla_dsv4 import Dsv4Prefill
from flashmla_sparse import FlashMlaSparse
from flashmla_sparse_prefill import SparsePrefill
from vllm_cascade import MERGE, Cascade
from vllm_cache_writers import ConcatAndCacheMla, ReshapeAndCache, ReshapeAndCacheFlash
from vllm_composite import COMPOSITE, TritonFlashAttn
from vllm_delta_nets import DeltaNetChunks, DeltaNetDecode, DeltaNetVerify, KimiDeltaDecode, KimiDeltaVerify
from vllm_fa3_sparse import Fa3MlaSparse
from vllm_flashmla import FlashMla
from vllm_index_builder import PageIndices
from vllm_indexer import MqaLogits, PagedMqaLogits
from vllm_paged_attention import PagedAttentionV1, PagedAttentionV2
from vllm_topk import CooperativeTopK, PersistentTopK, TopKPerRow
from vllm_triton import TritonMla, TritonUnified
from vllm_wheel import CORE, FA2, FA3, REQUIRES


class Fa3(FlashAttention3):
    name = "vllm:fa3"
    description = "FlashAttention 3 of vLLM, with its scheduler metadata; fp8 caches with queries rounded to e4m3"
    requires = REQUIRES
    kernel = "_vllm_fa3_C.fwd"
    calls = {FA3: "fwd get_scheduler_metadata"}
    sinks = True
    tuning = {"num_splits": (FlashAttention3.tuning["num_splits"][0],
                             "--attention-config.flash_attn_max_num_splits_for_cuda_graph")}
    ragged_arguments = {"is_rotary_interleaved": True, "sm_margin": 0, "num_splits": 0}

    def formats(self, problem):
        ragged = ["ragged"] if problem.cache_dtype == problem.dtype else []
        return super().formats(problem) + ragged

    def plan(self, batch):
        return RaggedPlan(batch, self) if batch.problem.cache_layout == "ragged" else super().plan(batch)

    def load(self):
        self.operators = FA3.load("fwd")
        self.check_gpu()


class Fa3Mla(AbsorbedMla, Fa3):
    name = "vllm:fa3_mla"
    description = "FlashAttention 3 of vLLM for absorbed MLA, which vLLM names FLASH_ATTN_MLA"


class Fa3Cascade(Cascade, Fa3):
    calls = {**Fa3.calls, CORE: MERGE}


class Fa3OrTriton(TritonFlashAttn):
    calls = {**TritonUnified.calls, **Fa3.calls, **Fa4.calls, COMPOSITE: "requires_mm_prefix"}
    causal = {256: Fa3, 512: Fa4}


class Fa2:
    name = "vllm:fa2"
    description = "FlashAttention 2 of vLLM, which reads pages of 16 tokens and more"
    requires = REQUIRES
    kernel = "_vllm_fa2_C.varlen_fwd"
    calls = {FA2: "varlen_fwd"}
    index_format = "block_table, cu_seqlens_q, seqused_k"
    device = "cuda"
    graph_support = "UNIFORM_BATCH"
    padding_seq_len = 0
    reads_page_gaps = True
    with_lse = False

    def load(self):
        FA2.load("varlen_fwd")

    def supports(self, problem):
        return no_paged_attention(problem, chunks=True, window_ahead=True, alibi=True) or first_reason(
            (problem.cache_dtype != problem.dtype, "a cache of the queries' type only"),
            (problem.cache_scales != "tensor", "scales of a whole tensor only"),
            (problem.page_size % 16 != 0 and problem.cache_layout != "ragged",
             f"pages of 16 tokens or multiples, not {problem.page_size}"),
            (problem.head_dim_qk != problem.head_dim_v, "keys and values of one head dim"),
            (problem.head_dim_qk > 256 or problem.head_dim_qk % 8 != 0, "head dims up to 256, multiples of 8"))

    def formats(self, problem):
        return ["NHD", "HND", "combined", "joint", "joint_hnd", "ragged"] if problem.cache_scales == "tensor" else []

    def numerics(self, problem):
        # Its causal ALiBi counts from a request's first key: O is the same, LSE is not.
        return {"p": problem.dtype, "lse": self.with_lse and not problem.has_alibi}

    def plan(self, batch):
        return Fa2Plan(batch, self)


class Fa2Plan(Plan):
    def bind(self, batch, backend):
        self.with_lse = backend.with_lse
        self.forward = self.torch.ops._vllm_fa2_C.varlen_fwd.default
        self.bias = {}
        if self.problem.has_alibi:
            self.bias = {"alibi_slopes": self.torch.tensor(alibi_slopes(self.problem), device="cuda")}

    def prepare(self, batch):
        problem = self.problem
        starts = batch.indices("varlen")
        query_starts = starts["cu_seqlens_q"].torch()
        if problem.cache_layout == "ragged":
            keys = {"cu_seqlens_k": starts["cu_seqlens_k"].torch()}
        else:
            table = {name: array.torch() for name, array in batch.indices("page_table").items()}
            keys = {"cu_seqlens_k": query_starts,  # not read beside seqused_k, but it has to be there
                    "seqused_k": table["cache_seqlens"], "block_table": table["page_table"]}
        longest_q, longest_kv = self.longest(batch)
        # It says +inf for a query that sees no key. In a recorded plan that can be one of a later step; padding is nobody's.
        ahead = 0 if self.causal else self.window_ahead
        self.has_empty_rows = problem.empty_rows if problem.recorded else any(
            kv < max(q - ahead if ahead >= 0 else 1, 1) for q, kv in zip(batch.q_lens, batch.kv_lens))
        self.arguments = arguments_of(
            self.forward, q=self.q, k=self.k_cache, v=self.v_cache, out=self.out, cu_seqlens_q=query_starts, **keys,
            **self.bias, max_seqlen_q=longest_q, max_seqlen_k=longest_kv, p_dropout=0.0, softmax_scale=self.logit_scale(batch),
            zero_tensors=False, is_causal=self.causal, window_size_left=self.window, window_size_right=self.window_ahead,
            softcap=problem.logit_cap, return_softmax=False, num_splits=0)

    def launch(self):
        lse = self.forward(*self.arguments)[1]  # [query heads, tokens]
        if not self.with_lse:
            return
        self.lse.copy_(lse.t())
        if self.has_empty_rows:
            self.lse.masked_fill_(self.lse == float("inf"), -float("inf"))


backends = [*with_lse_variants(Fa3, Fa3Mla, Fa3MlaSparse, Fa3Cascade, Fa2, FlashMla, FlashMlaSparse, SparsePrefill,
                               Dsv4Prefill),
            TritonMla, TritonUnified, Fa3OrTriton, PagedAttentionV1, PagedAttentionV2, ReshapeAndCacheFlash,
            ReshapeAndCache, ConcatAndCacheMla, DeltaNetDecode, DeltaNetVerify, DeltaNetChunks, KimiDeltaDecode,
            KimiDeltaVerify, PageIndices, TopKPerRow, PersistentTopK, CooperativeTopK, PagedMqaLogits, MqaLogits]
