# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""The attention kernels of vLLM's wheel, loaded out of it without starting vLLM."""
import logging
import types

from engine_tools import (Plan, arguments_of, first_reason, import_bare, library_of, need_gpu, no_latent_attention,
                          no_paged_attention, reserved, with_lse_variants, with_values)
from flash_attention_3 import AbsorbedMla, FlashAttention3, RaggedPlan
from gated_delta_net import (DeltaNetPlan, GatheredStates, chunked_numerics, chunks_of, layouts_of_states, no_chunks,
                             no_delta_net)

REQUIRES = {"vllm": "0.22.0", "torch": "2.11.0"}


class Fa3(FlashAttention3):
    name = "vllm:fa3"
    description = "FlashAttention 3 of vLLM, with its scheduler metadata; fp8 caches with queries rounded to e4m3"
    requires = REQUIRES
    kernel = "_vllm_fa3_C.fwd"
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
        library_of("vllm", "vllm_flash_attn/_vllm_fa3_C.abi3.so")
        import torch
        self.operators = torch.ops._vllm_fa3_C
        self.check_gpu()


class Fa3Mla(AbsorbedMla, Fa3):
    name = "vllm:fa3_mla"
    description = "FlashAttention 3 of vLLM for absorbed MLA, which vLLM names FLASH_ATTN_MLA"


class Fa2:
    name = "vllm:fa2"
    description = "FlashAttention 2 of vLLM, which reads pages of 16 tokens and more"
    requires = REQUIRES
    kernel = "_vllm_fa2_C.varlen_fwd"
    index_format = "block_table, cu_seqlens_q, seqused_k"
    device = "cuda"
    graph_support = "UNIFORM_BATCH"
    padding_seq_len = 0
    with_lse = False

    def load(self):
        library_of("vllm", "vllm_flash_attn/_vllm_fa2_C.abi3.so")

    def supports(self, problem):
        return no_paged_attention(problem, chunks=True, window_ahead=True) or first_reason(
            (problem.cache_dtype != problem.dtype, "a cache of the queries' type only"),
            (problem.cache_scales != "tensor", "scales of a whole tensor only"),
            (problem.page_size % 16 != 0 and problem.cache_layout != "ragged", f"pages of 16 tokens or multiples, not {problem.page_size}"),
            (problem.head_dim_qk != problem.head_dim_v, "keys and values of one head dim"),
            (problem.head_dim_qk > 256 or problem.head_dim_qk % 8 != 0, "head dims up to 256, multiples of 8"))

    def formats(self, problem):
        return ["NHD", "HND", "combined", "ragged"] if problem.cache_scales == "tensor" else []

    def numerics(self, problem):
        return {"p": problem.dtype, "lse": self.with_lse}

    def plan(self, batch):
        return Fa2Plan(batch, self)


class Fa2Plan(Plan):
    def bind(self, batch, backend):
        self.with_lse = backend.with_lse
        self.forward = self.torch.ops._vllm_fa2_C.varlen_fwd.default

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
        # It says +inf for a query that sees no key; a recorded plan's padding is nobody's query.
        ahead = 0 if self.causal else self.window_ahead
        self.has_empty_rows = any(kv < max(q - ahead if ahead >= 0 else 1, 1) for q, kv in zip(batch.q_lens, batch.kv_lens))
        self.arguments = arguments_of(
            self.forward, q=self.q, k=self.k_cache, v=self.v_cache, out=self.out, cu_seqlens_q=query_starts, **keys,
            max_seqlen_q=longest_q, max_seqlen_k=longest_kv, p_dropout=0.0, softmax_scale=self.logit_scale(batch), zero_tensors=False,
            is_causal=self.causal, window_size_left=self.window, window_size_right=self.window_ahead,
            softcap=problem.logit_cap, return_softmax=False, num_splits=0)

    def launch(self):
        lse = self.forward(*self.arguments)[1]  # [query heads, tokens]
        if not self.with_lse:
            return
        self.lse.copy_(lse.t())
        if self.has_empty_rows and not self.problem.recorded:
            self.lse.masked_fill_(self.lse == float("inf"), -float("inf"))


class FlashMla:
    name = "vllm:flashmla"
    description = ("FlashMLA's dense decode, over pages of 64 latent rows; over an e4m3 cache with queries rounded to "
                   "e4m3")
    requires = REQUIRES
    kernel = "_flashmla_C.dense_decode_fwd; _flashmla_extension_C.fwd_kvcache_mla_fp8"
    index_format = "flashmla"
    device = "cuda"
    graph_support = "UNIFORM_BATCH"
    reads_fp8_queries = True
    reads_queries_apart = True
    with_lse = False

    def load(self):
        library_of("vllm", "_flashmla_C.abi3.so")
        need_gpu(9, "FlashMLA's dense decode")

    def supports(self, problem):
        fp8 = problem.cache_dtype == "e4m3"
        return no_latent_attention(problem, no_fp8=None) or first_reason(
            (problem.mode not in ("decode", "target_verify"), f"decodes and chains of drafts only, not {problem.mode}"),
            (problem.page_size != 64, f"pages of 64 tokens, not {problem.page_size}"),
            (fp8 and problem.dtype != "bf16", "over an e4m3 cache it writes bf16 only"),
            (problem.q_dtype == "e5m2", "queries in e4m3 only, of fp8"),
            (problem.q_dtype == "e4m3" and not fp8, "queries in e4m3 over an e4m3 cache only"),
            (problem.q_scales != "tensor", "one scale for all queries only"))

    def numerics(self, problem):
        if problem.cache_dtype == "e4m3":  # the tensor cores multiply e4m3 with e4m3
            return {"qk_input": "e4m3", "p": "e4m3", "lse": self.with_lse}
        return {"p": problem.dtype, "lse": self.with_lse}

    def plan(self, batch):
        if batch.problem.cache_dtype == "e4m3":
            library_of("vllm", "_flashmla_extension_C.abi3.so")
            return FlashMlaFp8Plan(batch, self)
        return FlashMlaPlan(batch, self)


class FlashMlaPlan(Plan):
    def bind(self, batch, backend):
        self.with_lse = backend.with_lse
        requests = batch.batch_size
        # A recorded plan's padding is nobody's query.
        self.has_empty_rows = 0 in batch.kv_lens and not self.problem.recorded
        self.q, self.out = (x.view(requests, -1, *x.shape[1:]) for x in (self.q, self.out))
        self.by_head = self.lse.view(requests, -1, self.lse.shape[1]).transpose(1, 2)
        self.drafts = self.problem.mode == "target_verify"

    def prepare(self, batch):
        # The schedule that the library computes in a kernel ahead of a step's first layer.
        mla = {name: array.torch() for name, array in batch.indices("flashmla").items()}
        self.forward = self.torch.ops._flashmla_C.dense_decode_fwd.default
        self.arguments = (self.q, self.k_cache, self.problem.head_dim_v, mla["cache_seqlens"], mla["block_table"],
                          self.logit_scale(batch), self.drafts, mla["tile_scheduler_metadata"], mla["num_splits"],
                          self.out)

    def launch(self):
        self.give_lse(self.forward(*self.arguments)[1])

    def give_lse(self, lse):
        """f32 [requests, query heads, tokens of one]; +inf where there is no key."""
        if self.with_lse:
            self.by_head.copy_(lse)
            if self.has_empty_rows:
                self.lse.masked_fill_(self.lse == float("inf"), -float("inf"))


class FlashMlaFp8Plan(FlashMlaPlan):
    """The kernel over an e4m3 cache, which has operators and a schedule of its own and returns O in new memory."""

    def bind(self, batch, backend):
        super().bind(batch, backend)
        torch = self.torch
        self.q_in = self.q if self.problem.q_dtype == "e4m3" else torch.empty_like(self.q, dtype=self.k_cache.dtype)
        self.descales = [torch.tensor([scale], device="cuda") for scale in (batch.q_scale, batch.k_scale)]
        self.schedule = None

    def prepare(self, batch):
        operators, problem = self.torch.ops._flashmla_extension_C, self.problem
        table = batch.indices("page_table")
        lens, pages = table["cache_seqlens"].torch(), table["page_table"].torch()
        schedule = operators.get_mla_decoding_metadata_dense_fp8.default(
            lens, self.q.shape[1] * problem.heads_q, problem.heads_kv)
        if self.schedule is not None:
            for ours, step in zip(self.schedule, schedule):
                ours.copy_(step)
            return
        self.schedule, self.forward = schedule, operators.fwd_kvcache_mla_fp8.default
        self.arguments = (self.q_in, self.k_cache, problem.head_dim_v, lens, pages, problem.scale, self.drafts,
                          *schedule, *self.descales)

    def launch(self):
        if self.q_in is not self.q:
            self.q_in.copy_(self.q)  # as vLLM rounds them in the layer
        out, lse = self.forward(*self.arguments)
        self.out.copy_(out)
        self.give_lse(lse)


class FlashMlaSparse:
    """Rows of 656 bytes are read by the kernel for DeepSeek-V3.2's chosen keys alone. It is given all of a query's, as
    vLLM gives them to it where there are fewer than are chosen."""
    name = "vllm:flashmla_sparse"
    description = "FlashMLA's sparse decode over latent rows with scales of blocks, given every key of each query"
    requires = REQUIRES
    kernel = "_flashmla_C.sparse_decode_fwd"
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
        self.forward = torch.ops._flashmla_C.sparse_decode_fwd.default
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


class TritonMla:
    name = "vllm:triton_mla"
    description = "vLLM's Triton decode for absorbed MLA, which vLLM names TRITON_MLA"
    requires = {**REQUIRES, "triton": "3.6.0"}
    kernel = "decode_attention_fwd"
    index_format = "block_table, seq_lens"
    device = "cuda"
    graph_support = "UNIFORM_SINGLE_TOKEN_DECODE"
    reads_queries_apart = True
    formats = ["NHD"]  # a row's place is its page's number times the page size, and its own in the page

    def load(self):
        self.attend = import_triton_attention("triton_decode_attention").decode_attention_fwd

    def supports(self, problem):
        return no_latent_attention(problem, no_fp8=None) or first_reason(
            (problem.mode != "decode" or problem.max_q_len > 1, "decodes of one token only"),
            (problem.empty_rows, "no requests without keys: it divides by their sum of weights"))

    def numerics(self, problem):
        return {"qk_input": problem.dtype, "p": problem.dtype}  # rows in fp8 are widened to the queries' type

    def plan(self, batch):
        return TritonMlaPlan(batch, self.attend)


class TritonMlaPlan(Plan):
    LEAST_KEYS = 512  # of a split; with the most splits from v1/attention/backends/mla/triton_mla.py

    def bind(self, batch, attend):
        torch, problem = self.torch, self.problem
        most = 2 * torch.cuda.get_device_properties().multi_processor_count
        splits = min(1 << (max(1, self.longest(batch)[1] // self.LEAST_KEYS) - 1).bit_length(), most)
        # Behind each partial result lies its LSE.
        shape = (batch.batch_size, problem.heads_q, splits, problem.head_dim_v + 1)
        (partial,) = reserved(batch, (shape, torch.float32))
        scale = torch.tensor(batch.k_scale if problem.cache_dtype == "e4m3" else 1.0, device="cuda")
        table = {name: array.torch() for name, array in batch.indices("page_table").items()}
        self.attend = attend
        self.arguments = (self.q, self.k_cache, self.k_cache[..., :problem.head_dim_v], self.out, self.lse,
                          table["page_table"], table["cache_seqlens"], partial, splits, self.logit_scale(batch),
                          problem.page_size)
        self.options = {"k_scale": scale, "v_scale": scale, "is_mla": True}

    def prepare(self, batch):
        batch.indices("page_table")  # where it was

    def launch(self):
        self.attend(*self.arguments, **self.options)


def import_triton_attention(module):
    """A module of vLLM's Triton attention. Of these others it needs a name or two; they would start vLLM's platform
    detection."""
    import torch
    import triton
    import triton.language
    quiet = logging.getLogger("vllm")
    modes = types.SimpleNamespace(NONE=0, FP8_PER_TENSOR=1, INT8_PER_TOKEN_HEAD=2, FP8_PER_TOKEN_HEAD=3)
    platform = types.SimpleNamespace(fp8_dtype=lambda: torch.float8_e4m3fn, is_rocm=lambda: False)
    return import_bare(f"vllm.v1.attention.ops.{module}", ["vllm"], {
        "vllm.envs": {"VLLM_BATCH_INVARIANT": False},
        "vllm.logger": {"init_logger": lambda name: quiet},
        "vllm.platforms": {"current_platform": platform},
        "vllm.triton_utils": {"triton": triton, "tl": triton.language},
        "vllm.v1.kv_cache_interface": {"KVQuantMode": modes}})


class TritonUnified:
    name = "vllm:triton_unified"
    description = "vLLM's Triton attention: one kernel for prompts and decodes, with segments for small batches"
    requires = {**REQUIRES, "triton": "3.6.0"}
    kernel = "unified_attention"
    index_format = "block_table, cu_seqlens_q, seqused_k"
    device = "cuda"
    graph_support = "ALWAYS"
    padding_seq_len = 0

    def load(self):
        self.attend = import_triton_attention("triton_unified_attention").unified_attention

    def supports(self, problem):
        fp8 = problem.cache_dtype == "e4m3"
        return no_paged_attention(problem, sinks=True, chunks=True) or first_reason(
            (not problem.causal or problem.is_cross_attention, "causal self-attention only"),
            (problem.cache_dtype != problem.dtype and not fp8, "a cache of the queries' type, or e4m3"),
            (problem.cache_scales != "tensor", "scales of a whole tensor only"),
            (problem.head_dim_qk != problem.head_dim_v, "keys and values of one head dim"),
            (problem.page_size % 16 != 0, f"pages of 16 tokens or multiples, not {problem.page_size}"))

    def formats(self, problem):
        return ["NHD", "HND", "combined"] if problem.cache_scales == "tensor" else []

    def numerics(self, problem):
        return {"lse": False, "qk_input": problem.dtype, "p": problem.dtype}

    def plan(self, batch):
        return TritonUnifiedPlan(batch, self.attend)


class TritonUnifiedPlan(Plan):
    # v1/attention/backends/triton_attn.py: below so many programs, the keys of a decode are cut into segments.
    LEAST_PROGRAMS, SEGMENTS = 128, 16

    def bind(self, batch, attend):
        problem, torch = self.problem, self.torch
        self.attend = attend
        self.threshold = self.LEAST_PROGRAMS // problem.heads_kv
        dim = 1 << (problem.head_dim_v - 1).bit_length()
        shape = (max(self.threshold, 1), problem.heads_q, self.SEGMENTS)
        self.segments = reserved(batch, *((size, torch.float32) for size in ((*shape, dim), shape, shape)))
        self.scales = [torch.tensor([scale], device="cuda") for scale in (batch.k_scale, batch.v_scale)]

    def prepare(self, batch):
        problem, window = self.problem, self.window
        table = batch.indices("page_table")
        longest_q, longest_kv = self.longest(batch)
        fp8 = problem.cache_dtype == "e4m3"
        output, largest, sums = self.segments
        self.arguments = {
            "q": self.q, "k": self.k_cache, "v": self.v_cache, "out": self.out,
            "cu_seqlens_q": batch.indices("varlen")["cu_seqlens_q"].torch(), "max_seqlen_q": longest_q,
            "seqused_k": table["cache_seqlens"].torch(), "max_seqlen_k": longest_kv,
            "softmax_scale": self.logit_scale(batch), "causal": True,
            "window_size": (window, 0 if window >= 0 else -1), "block_table": table["page_table"].torch(),
            "softcap": problem.logit_cap, "q_descale": None, "k_descale": self.scales[0] if fp8 else None,
            "v_descale": self.scales[1] if fp8 else None, "seq_threshold_3D": self.threshold,
            "num_par_softmax_segments": self.SEGMENTS, "softmax_segm_output": output, "softmax_segm_max": largest,
            "softmax_segm_expsum": sums, "sinks": self.sinks, "kv_quant_mode": 1 if fp8 else 0}

    def launch(self):
        self.attend(**self.arguments)


def by_head(keys, heads):
    """The classic cache's keys [pages, heads * dim / x, page size, x] as [pages, heads, dim / x, page size, x]."""
    pages, rows, page_size, x = keys.shape
    return keys.view(pages, heads, rows // heads, page_size, x)


CACHE_WORDS = {"e4m3": "fp8_e4m3", "e5m2": "fp8_e5m2"}  # else "auto": a cache of the type of what is written


class PagedAttention:
    """vLLM's first kernels, over its classic cache. v1 takes all keys of a request at once, v2 parts of 512."""
    requires = REQUIRES
    index_format = "block_tables, seq_lens"
    device = "cuda"
    graph_support = "UNIFORM_SINGLE_TOKEN_DECODE"

    def load(self):
        library_of("vllm", "_C.abi3.so")

    def supports(self, problem):
        return no_paged_attention(problem) or first_reason(
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
    parts = None


class PagedAttentionV2(PagedAttention):
    name = "vllm:paged_attention_v2"
    description = "vLLM's first paged attention, on CUDA cores; the keys in parts of 512, which are merged"
    kernel = "_C.paged_attention_v2"
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


class CacheWriter:
    """Writes a step's keys and values into their slots; attention is others' work."""
    requires = REQUIRES
    index_format = "slot_mapping"
    device = "cuda"
    graph_support = "ALWAYS"
    writes_kv = True
    family = "softmax"
    scales = ("tensor",)

    def load(self):
        library_of("vllm", "_C.abi3.so")

    def supports(self, problem):
        return first_reason(
            (problem.step != "kv_write", "it writes the cache only"),
            (problem.family != self.family, "MLA's latent rows only" if self.family == "latent" else
             "keys and values of their own only"),
            (problem.cache_scales not in self.scales, f"scales by {' or '.join(self.scales)} only"),
            (problem.dtype not in ("f32", "f16", "bf16"), "f32, f16, bf16 only"),
            (problem.cache_dtype not in (problem.dtype, *CACHE_WORDS), "a cache of the new keys' type, or fp8"))

    def formats(self, problem):
        return list(self.layouts) if problem.cache_scales in self.scales else []

    def plan(self, batch):
        return WriterPlan(batch, self)


class WriterPlan(Plan):
    def bind(self, batch, writer):
        torch = self.torch
        keys, values = (tensor and tensor.torch() for tensor in map(batch.tensor, ("k_new", "v_new")))
        caches = [cache if cache is None or self.problem.cache_dtype not in CACHE_WORDS else cache.view(torch.uint8)
                  for cache in (self.k_cache, self.v_cache)]
        scales = [torch.tensor([scale], device="cuda") for scale in (batch.k_scale, batch.v_scale)]
        slots = batch.indices("slot_mapping")["slot_mapping"].torch()
        word = CACHE_WORDS.get(self.problem.cache_dtype, "auto")
        self.write = getattr(torch.ops._C_cache_ops, writer.operator).default
        self.arguments = writer.arguments(self.problem, keys, values, *caches, slots, word, *scales)

    def prepare(self, batch):
        batch.indices("slot_mapping")  # where it was

    def launch(self):
        self.write(*self.arguments)


class ReshapeAndCacheFlash(CacheWriter):
    name = "vllm:reshape_and_cache_flash"
    description = "vLLM's write of new keys and values into the cache that FlashAttention reads"
    kernel = "_C_cache_ops.reshape_and_cache_flash"
    operator = "reshape_and_cache_flash"
    layouts = ("NHD", "HND", "combined")

    def arguments(self, problem, *given):
        return given


class ReshapeAndCache(CacheWriter):
    name = "vllm:reshape_and_cache"
    description = "vLLM's write of new keys and values into its classic cache, which paged_attention_v1 and v2 read"
    kernel = "_C_cache_ops.reshape_and_cache"
    operator = "reshape_and_cache"
    layouts = ("x_packed",)

    def arguments(self, problem, keys, values, k_cache, *others):
        return (keys, values, by_head(k_cache, problem.heads_kv), *others)


class ConcatAndCacheMla(CacheWriter):
    name = "vllm:concat_and_cache_mla"
    description = "vLLM's write of new latent rows; with scales of blocks in them for DeepSeek's sparse layers"
    kernel = "_C_cache_ops.concat_and_cache_mla"
    operator = "concat_and_cache_mla"
    layouts = ("NHD",)
    family = "latent"
    scales = ("tensor", "block")

    def arguments(self, problem, rows, _, cache, __, slots, word, scale, ___):
        latent = problem.head_dim_v
        word = "fp8_ds_mla" if problem.cache_scales == "block" else word
        return (rows[:, 0, :latent], rows[:, 0, latent:], cache[:, :, 0], slots, word, scale)


class DeltaNet:
    """Of gated delta nets, whose states vLLM keeps value dims first."""
    requires = {**REQUIRES, "triton": "3.6.0"}
    index_format = "state_indices, cu_seqlens"
    device = "cuda"

    def formats(self, problem):
        return layouts_of_states(problem, "states_vk")

    def load(self):
        import triton
        import triton.language
        import triton.language.extra.libdevice as libdevice
        layers = "vllm.model_executor.layers"
        bare = ["vllm", "vllm.model_executor", layers, f"{layers}.fla", f"{layers}.fla.ops"]
        self.module = import_bare(f"{layers}.fla.ops.{self.file}", bare, {
            "vllm.platforms": {"current_platform": types.SimpleNamespace(is_cuda_alike=lambda: True)},
            "vllm.triton_utils": {"triton": triton, "tl": triton.language, "tldevice": libdevice}})


class DeltaNetDecode(DeltaNet):
    name = "vllm:fused_recurrent_gdn"
    description = "vLLM's gated delta rule token by token, on the pool of states itself; decodes"
    kernel = "fused_recurrent_gated_delta_rule_fwd_kernel"
    file = "fused_recurrent"
    graph_support = "UNIFORM_SINGLE_TOKEN_DECODE"
    padding_seq_len = 0

    def supports(self, problem):
        # With more tokens it wants a place for the state behind each of them, which is what drafts have.
        return no_delta_net(problem, ("f32", "f16", "bf16")) or first_reason(
            (problem.mode != "decode" or problem.max_q_len > 1, "decodes of one token only"))

    def numerics(self, problem):
        return {"lse": False}  # f32 throughout: q, k and v are widened where they are read, only O is rounded

    def plan(self, batch):
        return DeltaNetDecodePlan(batch, self)


class DeltaNetVerify(DeltaNetDecode):
    name = "vllm:fused_recurrent_gdn_verify"
    description = "the same for drafts: the state behind each token is written one behind the other, not to the pool"
    graph_support = "UNIFORM_BATCH"
    padding_seq_len = 1  # so that padding's is no request that begins here

    def supports(self, problem):
        return no_delta_net(problem, ("f32", "f16", "bf16")) or first_reason(
            (problem.mode != "target_verify", "drafts only"))

    def plan(self, batch):
        return DeltaNetVerifyPlan(batch, self)


class DeltaNetDecodePlan(DeltaNetPlan):
    def left(self, batch):
        """Where states are written: by slot, or, elsewhere than in the pool, by token."""
        return self.states

    def bind(self, batch, backend):
        super().bind(batch, backend)
        problem, torch = self.problem, self.torch
        requests, heads, dim_k, dim_v = batch.batch_size, problem.heads_kv, problem.head_dim_qk, problem.head_dim_v
        block_k, block_v = (1 << (dim - 1).bit_length() for dim in (dim_k, dim_v))
        block_v = min(block_v, 32)  # these, and the grid, as in fused_recurrent_gated_delta_rule_fwd
        self.slots = torch.empty(requests, dtype=torch.int32, device="cuda")
        q_len, left = problem.max_q_len, self.left(batch)
        grid = 1, -(-dim_v // block_v), requests * heads
        self.kernel = getattr(backend.module, backend.kernel)[grid]
        self.options = {
            "q": self.q, "k": self.k, "v": self.v, "g": self.g, "beta": self.beta, "o": self.out, "h0": self.states,
            "ht": left, "cu_seqlens": torch.arange(requests + 1, dtype=torch.int32, device="cuda") * q_len,
            "ssm_state_indices": self.slots, "num_accepted_tokens": None, "scale": problem.scale, "N": requests,
            "T": requests * q_len, "B": 1, "H": problem.heads_q, "HV": heads, "K": dim_k, "V": dim_v, "BK": block_k,
            "BV": block_v, "stride_init_state_token": self.states.stride(0),
            "stride_final_state_token": left.stride(0), "stride_indices_seq": 1, "stride_indices_tok": 1,
            "INPLACE_FINAL_STATE": left is self.states, "IS_BETA_HEADWISE": False, "USE_QK_L2NORM_IN_KERNEL": True, "IS_KDA": False,
            "num_warps": 1, "num_stages": 3}

    def prepare(self, batch):
        self.slots.copy_(batch.tensor("state_indices").torch())
        # Requests that begin here: in vLLM a prompt has left a state before any decode. Padding has no slot.
        first = self.beginning(batch)
        self.fresh = self.slots[first].long() if first else ()
        if first:
            self.fresh = self.fresh[self.fresh >= 0]

    @staticmethod
    def beginning(batch):
        return [request for request, lengths in enumerate(zip(batch.q_lens, batch.kv_lens)) if lengths[0] == lengths[1]]

    def update(self, batch, stream):
        return not self.beginning(batch) and super().update(batch, stream)

    def launch(self):
        if len(self.fresh) > 0:
            self.states.index_fill_(0, self.fresh, 0)
        self.kernel(**self.options)


class DeltaNetVerifyPlan(DeltaNetDecodePlan):
    """The pool stays as it is: where a request begins with nothing, the states are read from a copy."""

    def left(self, batch):
        return batch.tensor("intermediate_states").torch().transpose(-1, -2)

    def launch(self):
        options = self.options
        if len(self.fresh) > 0:
            states = self.states.clone()
            states.index_fill_(0, self.fresh, 0)
            options = {**options, "h0": states}
        self.kernel(**options)


class DeltaNetChunks(DeltaNet):
    name = "vllm:chunk_gdn"
    description = "vLLM's gated delta rule in chunks of 64 tokens, with its gather and scatter of the states"
    kernel = "chunk_gated_delta_rule"
    file = "chunk"
    graph_support = "NEVER"
    returns_out = False

    def supports(self, problem):
        return no_chunks(problem)

    def numerics(self, problem):
        return chunked_numerics(problem)

    def plan(self, batch):
        self.rule = self.module.chunk_gated_delta_rule
        return GatheredStates(batch, self)

    def options(self, batch, plan):
        torch, (chunks, before) = plan.torch, chunks_of(plan.q_lens)
        lists = {"chunk_indices": chunks, "chunk_offsets": before}
        return {"core_attn_out": plan.out.view(-1), **{
            name: torch.tensor(values, dtype=torch.int64, device="cuda") for name, values in lists.items()}}


backends = [*with_lse_variants(Fa3, Fa3Mla, Fa2, FlashMla, FlashMlaSparse), TritonMla, TritonUnified,
            PagedAttentionV1, PagedAttentionV2, ReshapeAndCacheFlash, ReshapeAndCache, ConcatAndCacheMla,
            DeltaNetDecode, DeltaNetVerify, DeltaNetChunks]
