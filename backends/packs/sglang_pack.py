# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""SGLang's own Triton kernels, imported without starting SGLang: decodes with its split rule, prompts and draft trees.

They read token slots, not pages. Building those is part of plan and update; the engine's kernel for it is a row of its own.
"""
from engine_packages import Functions, accepted, import_bare
from engine_index_builders import BuilderPlan, CsrBuilder
from engine_tools import FP8, Plan, first_reason, no_paged_attention, request_rows, reserved, step_of, with_values

KERNELS = "sglang.kernels.ops.attention"
DECODE, EXTEND, MERGE, METADATA = (Functions((f"{KERNELS}.{module}",)) for module in (
    "decode_attention", "extend_attention", "merge_state", "metadata"))
INDICES = Functions((f"{KERNELS}.kv_indices", "sglang.kernels.ops.kvcache.kv_indices"), alone=True)


def units_of(device=0):
    import torch
    return torch.cuda.get_device_properties(device).multi_processor_count


class Triton:
    requires = {"sglang": "0.5.17..0.5.23", "torch": "2.11.0..2.14.1", "triton": "3.6.0..3.8.0"}
    device = "cuda"

    def load(self):
        import torch
        bare = ["sglang", "sglang.srt", "sglang.kernels", "sglang.kernels.ops", KERNELS]
        utils = {"is_cuda": torch.cuda.is_available, "is_hip": lambda: False, "is_gfx95_supported": lambda: False,
                 "is_gfx1250_supported": lambda: False, "get_device_core_count": units_of}
        for functions, names in self.calls.items():
            module = import_bare(functions.name(), bare, {"sglang.srt.utils": utils})
            vars(self).update((name, getattr(module, name)) for name in names.split())

    def formats(self, problem):
        return ["NHD"] if problem.cache_scales == "tensor" else []  # as SGLang's pool: a slot's row behind the last one's

    def plan(self, batch):
        return self.plans(batch, self)


def power_of_two(count):
    """The least that is not smaller."""
    return 1 << max(count - 1, 0).bit_length()


class SlotPlan(Plan):
    def bind(self, batch, backend):
        problem = self.problem
        # [slots, heads, dim], which is all that 0.5.23 takes
        self.k_cache, self.v_cache = (cache if cache is None else cache.view(-1, *cache.shape[2:])
                                      for cache in (self.k_cache, self.v_cache))
        most = batch.batch_size * self.longest(batch)[1] if problem.recorded else sum(batch.kv_lens)
        self.starts = self.torch.zeros(batch.batch_size + 1, dtype=self.torch.int32, device="cuda")
        self.slots = self.torch.zeros(max(most, 1), dtype=self.torch.int64, device="cuda")  # int64, as SGLang's

    def give_slots(self, requests):
        """Copies each request's token slots, NumPy arrays, to where the kernels find them."""
        import numpy
        lens = numpy.fromiter(map(len, requests), numpy.int32, len(requests))
        starts = numpy.concatenate([[0], numpy.cumsum(lens)]).astype(numpy.int32)
        self.starts.copy_(self.torch.from_numpy(starts))
        if starts[-1] > 0:
            self.slots[:starts[-1]].copy_(self.torch.from_numpy(numpy.concatenate(requests).astype(numpy.int64)))

    @staticmethod
    def spans(arrays, starts, values):
        starts, values = arrays[starts].numpy(), arrays[values].numpy()
        return [values[first:end] for first, end in zip(starts[:-1], starts[1:])]

    def slots_of_keys(self, batch):
        """The slots of each request's keys; in a window layer, of those in the window."""
        if self.problem.sliding_window_size >= 0:
            return self.spans(batch.indices("csr_window", host=True), "window_kv_indptr", "window_kv_indices")
        table = {name: array.numpy() for name, array in batch.indices("req_to_token", host=True).items()}
        rows = table["req_to_token"][table["req_pool_indices"]]
        return [row[:kv_len] for row, kv_len in zip(rows, batch.kv_lens)]


class DecodePlan(SlotPlan):
    BLOCK = 32  # keys that the kernel takes at once

    def bind(self, batch, backend):
        super().bind(batch, backend)
        problem, torch = self.problem, self.torch
        self.units = units_of()
        latent, most, self.tile = problem.family == "latent", backend.splits, backend.split_tile
        if self.tile:
            most = -(-self.longest(batch)[1] // self.tile)
        elif latent:  # the cap in layers/attention/triton_backend.py: one KV head leaves most of a GPU idle
            most = max(most, min(power_of_two(self.units), power_of_two(-(-self.longest(batch)[1] // self.BLOCK))))
        shape = (batch.batch_size, problem.heads_q, most)
        partial, partial_lse = backend.partials(batch, (*shape, problem.head_dim_v), shape)
        self.splits = torch.ones(batch.batch_size, dtype=torch.int32, device="cuda")
        values = self.k_cache[..., :problem.head_dim_v] if latent else self.v_cache
        self.rule, self.forward = backend.get_num_kv_splits_triton, backend.decode_attention_fwd
        self.arguments = (self.q, self.k_cache, values, self.out, self.starts, self.slots, partial, partial_lse,
                          self.splits, most, problem.scale, batch.k_scale, batch.v_scale)
        self.options = {
            "logit_cap": problem.logit_cap, "sinks": self.sinks, "page_size": problem.page_size, "has_mla": latent,
            "xai_temperature_len": problem.temperature_len or -1,
            "use_pdl": torch.cuda.get_device_capability()[0] >= 9}  # as the engine asks sgl_kernel
        self.most, self.lens = most, torch.empty_like(self.splits)

    def prepare(self, batch):
        problem, requests = self.problem, batch.batch_size
        self.give_slots(self.slots_of_keys(batch))
        self.torch.sub(self.starts[1:], self.starts[:-1], out=self.lens)
        if self.tile:
            self.splits.copy_((self.lens + self.tile - 1) // self.tile)
            return
        self.rule[(1,)](self.splits, self.lens, requests, 1, problem.heads_q, problem.heads_kv, self.most, self.units,
                        MAX_NUM_SEQ=max(256, power_of_two(requests)))

    def launch(self):
        self.forward(*self.arguments, **self.options)


class Decode(Triton):
    name = "sglang:triton_decode"
    description = "SGLang's Triton decode over token slots, split as its rules say; absorbed MLA, too"
    kernel = "decode_attention_fwd"
    index_format = "kv_indptr, kv_indices, num_kv_splits"
    calls = {DECODE: kernel, METADATA: "get_num_kv_splits_triton"}
    graph_support = "UNIFORM_SINGLE_TOKEN_DECODE"
    plans = DecodePlan
    reads_queries_apart = True  # of absorbed MLA, where SGLang joins them, too
    scratch = None
    splits = 8  # at most: the rule decides, and raises it for absorbed MLA
    split_tile = None  # keys of each split, whatever else is in the batch: the rule of deterministic inference
    tuning = {"splits": ([1, 2, 4, 8, 16, 32, 64], "--triton-attention-num-kv-splits"),
              "split_tile": ([128, 256, 512, 1024, 2048],
                             "--enable-deterministic-inference, SGLANG_TRITON_DECODE_SPLIT_TILE_SIZE=")}

    def partials(self, batch, *shapes):
        """Room for partial results, f32. For MLA it takes gigabytes, which all plans share as an engine's layers do."""
        import torch
        if batch.problem.family != "latent":
            return reserved(batch, *((shape, torch.float32) for shape in shapes))
        sizes = [torch.Size(shape).numel() for shape in shapes]
        if self.scratch is None or self.scratch.numel() < sum(sizes):
            self.scratch = torch.empty(sum(sizes), dtype=torch.float32, device="cuda")  # earlier plans keep theirs
        return [part.view(shape) for part, shape in zip(self.scratch[:sum(sizes)].split(sizes), shapes)]

    def supports(self, problem):
        latent = problem.family == "latent"
        refused = first_reason(
            (problem.step != "attention", "attention only: it writes no cache"),
            (problem.dtype not in ("f16", "bf16"), "queries in f16 or bf16 only"),
            (problem.sliding_window_size >= 0, "no window over latent rows"),
            ) if latent else no_paged_attention(problem, sinks=True, temperature=True)
        return refused or first_reason(
            (problem.temperature_len > 0 and problem.sliding_window_size >= 0,
             "no temperature in a window, of whose keys alone it knows the places"),
            (problem.mode != "decode" or problem.max_q_len > 1, "decodes of one token only"),
            (problem.is_cross_attention, "no cross attention"),
            (problem.cache_dtype not in (problem.dtype, *FP8), "a cache of the queries' type, or fp8"),
            (problem.cache_dtype in FP8 and problem.heads_q == problem.heads_kv, "fp8 only where heads share keys"),
            (problem.cache_scales != "tensor", "scales of a whole tensor only"))

    def numerics(self, problem):
        if problem.heads_q == problem.heads_kv:
            return {"lse": False}
        # Queries and weights are rounded to what the cache is stored in.
        return {"lse": False, "qk_input": problem.cache_dtype, "p": problem.cache_dtype}


class ExtendPlan(SlotPlan):
    def bind(self, batch, backend):
        super().bind(batch, backend)
        self.forward = backend.extend_attention_fwd
        self.keys, self.values = (request_rows(batch, role) for role in ("k_new", "v_new"))

    def prepare(self, batch):
        problem, mask, mask_starts = self.problem, None, None
        if step_of(problem) == "target_verify":
            tree = batch.indices("tree_mask")  # these arrays stay where they are when a recorded plan goes on
            mask, mask_starts = tree["custom_mask"].torch().view(self.torch.bool), tree["mask_indptr"].torch()
        query_starts = batch.indices("csr_prefix")["qo_indptr"].torch()
        self.give_slots(self.spans(batch.indices("csr_prefix", host=True), "kv_indptr", "kv_indices"))
        self.arguments = (self.q, self.keys, self.values, self.out, self.k_cache, self.v_cache, query_starts,
                          self.starts, self.slots, mask, True, mask_starts, self.longest(batch)[0], batch.k_scale,
                          batch.v_scale)
        self.options = {"sm_scale": problem.scale, "logit_cap": problem.logit_cap, "sinks": self.sinks,
                        "sliding_window_size": problem.sliding_window_size, "lse_extend": self.lse,
                        "xai_temperature_len": problem.temperature_len or -1,
                        "page_size": problem.page_size}

    def launch(self):
        self.forward(*self.arguments, **self.options)


class Extend(Triton):
    name = "sglang:triton_extend"
    description = "SGLang's Triton prefill: new keys as they are, cached ones by token slots; draft trees by their mask"
    kernel = "extend_attention_fwd"
    index_format = "qo_indptr, kv_indptr, kv_indices"
    calls = {EXTEND: kernel}
    graph_support = "UNIFORM_BATCH"
    plans = ExtendPlan

    def supports(self, problem):
        return no_paged_attention(problem, trees=True, sinks=True, temperature=True) or first_reason(
            (problem.mode == "decode", "no decodes: triton_decode is for them"),
            (not problem.causal or problem.is_cross_attention, "causal self-attention only"),
            (problem.sliding_window_size == 0, "a window of 0 previous keys means no window to it"),
            (step_of(problem) == "target_verify" and problem.sliding_window_size >= 0,
             "no windows in draft trees that branch"),
            (problem.cache_dtype != problem.dtype, "a cache of the queries' type: it reads the new keys before they are"
             " stored"),
            (problem.cache_scales != "tensor", "scales of a whole tensor only"))

    def numerics(self, problem):
        return {"p": problem.dtype}


class ExtendUnifiedPlan(SlotPlan):
    def bind(self, batch, backend):
        super().bind(batch, backend)
        self.forward = backend.extend_attention_fwd_unified
        self.prefixes = self.torch.zeros(batch.batch_size, dtype=self.torch.int32, device="cuda")

    def prepare(self, batch):
        problem, tree = self.problem, {}
        if step_of(problem) == "target_verify":
            mask = batch.indices("tree_mask")
            tree = {"custom_mask": mask["custom_mask"].torch().view(self.torch.bool),
                    "mask_indptr": mask["mask_indptr"].torch()}
        self.give_slots(self.slots_of_keys(batch))
        before = [kv_len - q_len for q_len, kv_len in zip(batch.q_lens, batch.kv_lens)]
        self.prefixes.copy_(self.torch.tensor(before, dtype=self.torch.int32))
        query_starts = batch.indices("varlen")["cu_seqlens_q"].torch()
        self.arguments = (self.q, self.out, self.k_cache, self.v_cache, batch.k_scale, batch.v_scale, query_starts,
                          self.starts, self.slots, self.prefixes, self.longest(batch)[0])
        self.options = {"sm_scale": problem.scale, "logit_cap": problem.logit_cap, "sinks": self.sinks,
                        "xai_temperature_len": problem.temperature_len or -1, "page_size": problem.page_size, **tree}

    def launch(self):
        self.forward(*self.arguments, **self.options)


class ExtendUnified(Extend):
    name = "sglang:triton_extend_unified"
    description = "SGLang's Triton prefill of deterministic inference: one pass over all keys in the cache"
    kernel = "extend_attention_fwd_unified"
    calls = {EXTEND: kernel}
    plans = ExtendUnifiedPlan

    def supports(self, problem):
        own_type = with_values(problem, cache_dtype=problem.dtype) if problem.cache_dtype in FP8 else problem
        return super().supports(own_type) or first_reason(
            (problem.sliding_window_size >= 0, "no window: the pack lists all keys, SGLang those in the window"))

    def numerics(self, problem):
        return {"lse": False, "qk_input": problem.cache_dtype, "p": problem.cache_dtype}


class ExtendMergedPlan(ExtendPlan):
    """The prefix without its causal mask, the new keys with it, and their merge."""
    follows = False

    def bind(self, batch, backend):
        super().bind(batch, backend)
        self.merge = backend.merge_state_triton
        # The version that has this argument also gives zeros, and an LSE of -inf, where a launch has no keys for a query.
        self.takes_none = bool(accepted(self.forward, identity_kv_indices=False))
        self.parts = [(self.torch.empty_like(self.out), self.torch.empty_like(self.lse)) for _ in range(2)]

    def prepare(self, batch):
        super().prepare(batch)
        prefixes = [kv_len - q_len for q_len, kv_len in zip(batch.q_lens, batch.kv_lens)]
        self.has_prefix = any(prefixes)
        if self.has_prefix and 0 in prefixes and not self.takes_none:
            raise ValueError("a request without a prefix beside others: this version's kernel gives it NaN, not zeros")

    def launch(self):
        arguments, options = list(self.arguments), dict(self.options)
        if not self.has_prefix:
            self.forward(*arguments, **options)
            return
        for (out, lse), skipped in zip(self.parts, ("skip_extend", "skip_prefix")):
            arguments[3], options["lse_extend"] = out, lse
            self.forward(*arguments, **options, **{skipped: True})
        (prefix, prefix_lse), (new, new_lse) = self.parts
        self.merge(prefix, prefix_lse, new, new_lse, self.out, self.lse)


class ExtendMerged(Extend):
    name = "sglang:triton_extend_merged"
    description = "SGLang's Triton prefill in two launches, prefix and new keys, and merge_state, as in DCP"
    kernel = "extend_attention_fwd, merge_state_triton"
    calls = {EXTEND: "extend_attention_fwd", MERGE: "merge_state_triton"}
    graph_support = "NEVER"
    plans = ExtendMergedPlan

    def supports(self, problem):
        return super().supports(problem) or first_reason(
            (step_of(problem) == "target_verify", "no draft trees that branch"),
            (problem.has_sinks, "no sinks: each launch would count them"),
            (problem.temperature_len > 0, "no temperature of positions"),
            (problem.sliding_window_size >= 0, "no window"),
            (problem.empty_rows, "no requests with fewer keys than queries"))

    def numerics(self, problem):
        return {"p": problem.dtype, "partial_out": problem.dtype}


class SlotsPlan(BuilderPlan):
    """FlashInferIndicesUpdaterDecode.call_begin_forward: torch sums the lengths, and a program a request gathers its slots."""

    def bind(self, batch):
        self.lens, self.rows, self.table = (
            batch.tensor(role).torch() for role in ("seq_lens", "req_pool_indices", "req_to_token"))

    def launch(self):
        self.starts[1:] = self.torch.cumsum(self.lens, dim=0)
        self.build[(self.requests,)](
            self.table, self.rows, self.lens, self.starts, None, self.pages, self.table.shape[1])


class KvIndices(CsrBuilder):
    name = "sglang:kv_indices"
    description = "SGLang's kv_indptr, summed by torch, and kv_indices, gathered from req_to_token, for FlashInfer and Triton"
    requires = Triton.requires
    kernel = "create_flashinfer_kv_indices_triton"
    calls = {INDICES: kernel}
    index_format = "req_to_token"
    plans = SlotsPlan

    def supports(self, problem):
        return super().supports(problem) or first_reason(
            (problem.page_size > 1, "it lists token slots, which are pages of one token"))


backends = [Decode, Extend, ExtendUnified, ExtendMerged, KvIndices]
