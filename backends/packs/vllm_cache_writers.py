# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""vLLM's writes of new keys and values into its caches."""
from engine_tools import Plan, first_reason
from vllm_paged_attention import CACHE_WORDS, by_head
from vllm_wheel import CACHE, REQUIRES


class CacheWriter:
    """Writes a step's keys and values into their slots; attention is others' work."""
    requires = REQUIRES
    index_format = "slot_mapping"
    device = "cuda"
    graph_support = "ALWAYS"
    writes_kv = True
    reads_page_gaps = True
    family = "softmax"
    scales = ("tensor",)

    def load(self):
        CACHE.load(self.operator)

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
    calls = {CACHE: operator}
    layouts = ("NHD", "HND", "combined", "joint", "joint_hnd")

    def arguments(self, problem, *given):
        return given


class ReshapeAndCache(CacheWriter):
    name = "vllm:reshape_and_cache"
    description = "vLLM's write of new keys and values into its classic cache, which paged_attention_v1 and v2 read"
    kernel = "_C_cache_ops.reshape_and_cache"
    operator = "reshape_and_cache"
    calls = {CACHE: operator}
    layouts = ("x_packed",)
    reads_page_gaps = False  # it multiplies the page's number by the size of a page

    def arguments(self, problem, keys, values, k_cache, *others):
        return (keys, values, by_head(k_cache, problem.heads_kv), *others)


class ConcatAndCacheMla(CacheWriter):
    name = "vllm:concat_and_cache_mla"
    description = "vLLM's write of new latent rows; with scales of blocks in them for DeepSeek's sparse layers"
    kernel = "_C_cache_ops.concat_and_cache_mla"
    operator = "concat_and_cache_mla"
    calls = {CACHE: operator}
    layouts = ("NHD",)
    family = "latent"
    scales = ("tensor", "block")

    def arguments(self, problem, rows, _, cache, __, slots, word, scale, ___):
        latent = problem.head_dim_v
        word = "fp8_ds_mla" if problem.cache_scales == "block" else word
        return (rows[:, 0, :latent], rows[:, 0, latent:], cache[:, :, 0], slots, word, scale)
