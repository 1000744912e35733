# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashAttention 4, kernels in CuTe DSL: flash-attn-4, and the copy in vLLM's wheel, which goes further on Hopper.

A kernel is compiled, without nvcc, when a problem is planned first: one for types, dims, masks and whether keys are
split. FLASH_ATTENTION_CUTE_DSL_CACHE_ENABLED=1 keeps it in FLASH_ATTENTION_CUTE_DSL_CACHE_DIR.
"""
from engine_packages import Functions, accepted, import_bare, need_gpu
from engine_tools import Plan, first_reason, no_paged_attention, with_lse_variants

VLLM = Functions(("vllm.vllm_flash_attn.cute.interface",))
FLASH_ATTN = Functions(("flash_attn.cute.interface",))


class FlashAttention4:
    """A backend of one copy, which says what it takes on Hopper."""
    kernel = "_flash_attn_fwd"
    device = "cuda"
    index_format = "page_table, cu_seqlens_q, seqused_k"
    graph_support = "ALWAYS"
    padding_seq_len = 0
    fp8_cache = False
    dim_512 = False
    num_splits = 1
    with_lse = False

    def load(self):
        self.forward = self.import_module()._flash_attn_fwd
        need_gpu(9, "this pack's use of FlashAttention 4")

    def supports(self, problem):
        dims, fp8 = (problem.head_dim_qk, problem.head_dim_v), problem.cache_dtype == "e4m3"
        ragged = problem.cache_layout == "ragged"
        return no_paged_attention(problem, sinks=True, chunks=True, window_ahead=True) or first_reason(
            (fp8 and not self.fp8_cache, "no fp8 on Hopper: this copy has it on Blackwell"),
            (fp8 and ragged, "an fp8 cache in pages only"),
            (not fp8 and problem.cache_dtype != problem.dtype,
             "a cache of the queries' type" + (", or e4m3" if self.fp8_cache else "")),
            (problem.cache_scales != "tensor", "scales of a whole tensor only"),
            (any(dim % 8 != 0 or not 8 <= dim <= 256 for dim in dims) and not (self.dim_512 and set(dims) == {512}),
             "head dims of 8 to 256, multiples of 8" + (", or of 512" if self.dim_512 else "")),
            (not ragged and any(dim % 16 != 0 for dim in dims), "in pages head dims in multiples of 16"),
            (dims[0] != dims[1] and dims != (192, 128), "keys and values of one head dim, or 192/128"),
            # vLLM uses these kernels for no other; over pages of 128 of head dim 128 they are wrong.
            (fp8 and (dims[0], problem.page_size) != (512, 64), "over an e4m3 cache head dim 512 in pages of 64 only"))

    def formats(self, problem):
        return ["NHD", "HND", "combined", "ragged"] if problem.cache_scales == "tensor" else []

    def numerics(self, problem):
        if problem.cache_dtype == "e4m3":  # rows are widened to f16, to which queries are rounded, too
            return {"qk_input": "f16", "p": "f16", "lse": self.with_lse}
        return {"p": problem.dtype, "lse": self.with_lse}

    def plan(self, batch):
        return ForwardPlan(batch, self)


class Vllm(FlashAttention4):
    name = "fa4:vllm"
    description = "FlashAttention 4 of vLLM: pages, ragged keys, splits, head dims up to 256 and of 512, e4m3 caches"
    requires = {"vllm": "0.33.0", "torch": "2.11.0..2.14.0", "nvidia-cutlass-dsl": "4.8.0", "quack-kernels": "0.6.5"}
    calls = {VLLM: "_flash_attn_fwd"}
    dim_512 = True
    fp8_cache = True
    num_splits = 0  # its rule decides, from the longest request
    tuning = {"num_splits": ([1, 2, 4, 8, 16, 32], "")}

    def import_module(self):
        return import_bare(VLLM.name(), ["vllm", "vllm.vllm_flash_attn", "vllm.vllm_flash_attn.cute"], {})


class FlashAttn(FlashAttention4):
    name = "fa4:flash_attn"
    description = "FlashAttention 4 of flash-attn-4: pages and ragged keys; on Hopper without splits"
    requires = {"flash-attn-4": "4.0.0b36", "torch": "2.11.0..2.14.0", "nvidia-cutlass-dsl": "4.8.0",
                "quack-kernels": "0.6.5"}
    calls = {FLASH_ATTN: "_flash_attn_fwd"}

    def import_module(self):
        return import_bare(FLASH_ATTN.name(), ["flash_attn", "flash_attn.cute"], {})


class ForwardPlan(Plan):
    def bind(self, batch, backend):
        problem, torch = self.problem, self.torch
        self.forward, self.with_lse, self.compiled = backend.forward, backend.with_lse, False
        self.options = {
            "softcap": problem.logit_cap, "num_splits": backend.num_splits, "causal": self.causal,
            "window_size_left": self.window if self.window >= 0 else None,
            # Causality is its own right edge.
            "window_size_right": None if self.causal or self.window_ahead < 0 else self.window_ahead,
            "return_lse": backend.with_lse}
        if problem.has_sinks:
            self.options["learnable_sink"] = self.sinks.bfloat16()
        if problem.cache_dtype == "e4m3":
            shape = (batch.batch_size, problem.heads_kv)
            self.options |= {name: torch.full(shape, scale, dtype=torch.float32, device="cuda")
                             for name, scale in (("k_descale", batch.k_scale), ("v_descale", batch.v_scale))}
            self.options |= accepted(self.forward, fp8_kv_dequant=True)

    def prepare(self, batch):
        starts = batch.indices("varlen")
        if self.problem.cache_layout == "ragged":
            keys = {"cu_seqlens_k": starts["cu_seqlens_k"].torch()}
        else:
            table = {name: array.torch() for name, array in batch.indices("page_table").items()}
            keys = {"page_table": table["page_table"], "seqused_k": table["cache_seqlens"]}
        longest_q, longest_k = self.longest(batch)
        self.arguments = {"q": self.q, "k": self.k_cache, "v": self.v_cache, "softmax_scale": self.logit_scale(batch),
                          "cu_seqlens_q": starts["cu_seqlens_q"].torch(), "max_seqlen_q": longest_q,
                          "max_seqlen_k": longest_k, **keys, **self.options}
        if not self.compiled:  # by a call, whose outputs are nobody's
            self.forward(**self.arguments, out=self.torch.empty_like(self.out))
            self.compiled = True

    def launch(self):
        lse = self.forward(**self.arguments, out=self.out)[1]  # [query heads, tokens]
        if self.with_lse:
            self.lse.copy_(lse.t())


backends = with_lse_variants(Vllm, FlashAttn)
