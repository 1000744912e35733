# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""What the backends of the FlashInfer pack share: its wrappers, their memory and what they are told."""
import math

from engine_packages import Functions
from engine_tools import FP8, Plan, first_reason, no_paged_attention, reserved, step_of

LN2 = math.log(2)
DECODE, PREFILL, CASCADE, XQA = (Functions((f"flashinfer.{name}",)) for name in ("decode", "prefill", "cascade", "xqa"))
ATTENTION = Functions(("flashinfer.attention._core", "flashinfer.attention"))
MLA = Functions(("flashinfer.mla._batch_mla._wrapper", "flashinfer.mla._core"))
DECODE_WRAPPER, PAGED_WRAPPER, RAGGED_WRAPPER = (
    f"{name}.__init__ {name}.plan {name}.run" for name in
    ("BatchDecodeWithPagedKVCacheWrapper", "BatchPrefillWithPagedKVCacheWrapper", "BatchPrefillWithRaggedKVCacheWrapper"))
# Split results are stored in the output's type, and the threads that merge them exchange theirs in that type again:
# threadblock_sync_state() in attention/cascade.cuh.
PARTIAL = {"partial_roundings": 2}
# Bytes: what SGLang takes, what it takes for Qwen, and what it takes for deterministic inference.
WORKSPACES = {"workspace": ([384 << 20, 512 << 20, 2048 << 20], "SGLANG_FLASHINFER_WORKSPACE_SIZE=")}


class FlashInfer:
    """A backend of one kernel. What its wrapper is made with, `template`, is FlashInfer's word for it."""
    requires = {"flashinfer-python": "0.6.9..0.7.2.post1", "torch": "2.11.0..2.14.1"}
    calls = {PREFILL: PAGED_WRAPPER}
    index_format = "csr"
    device = "cuda"
    graph_support = "UNIFORM_SINGLE_TOKEN_DECODE"
    template = "fa2"
    modes = ("decode",)
    head_dims = ((64, 64), (128, 128), (256, 256))
    groups = None  # how many query heads may share a KV head; None: any number
    fp8_cache = True
    reads_page_gaps = True
    trees = sinks = chunks = alibi = items = False
    with_lse = False
    workspace = 128 << 20  # bytes that results between stages may take: FlashInfer's advice
    split_tile = None  # keys of a piece; None: as its planner decides
    disable_split_kv = False

    def load(self):
        import flashinfer
        self.library = flashinfer

    def supports(self, problem):
        dims, group = (problem.head_dim_qk, problem.head_dim_v), problem.heads_q // max(problem.heads_kv, 1)
        return no_paged_attention(problem, trees=self.trees, sinks=self.sinks, chunks=self.chunks, alibi=self.alibi,
                                  items=self.items) or first_reason(
            (problem.has_alibi and problem.ranks > 1, "no ALiBi of several ranks: its slopes are those of a whole model"),
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
        requests, self.pages = self.sizes(batch)
        if self.problem.recorded:
            self.buffers = {"qo_indptr": self.ints(requests + 1), "kv_indptr": self.ints(requests + 1),
                            "kv_indices": self.ints(requests * self.pages), "last": self.ints(requests)}
        self.make(batch)

    def sizes(self, batch):
        """How many requests there are, and how many pages the longest has."""
        return batch.batch_size, -(-self.longest(batch)[1] // self.problem.page_size)

    def ints(self, count):
        return self.torch.zeros(count, dtype=self.torch.int32, device="cuda")

    def indices(self, batch):
        """csr, with what the planner reads in host memory and the pages on the GPU. Both are the step's own."""
        here, there = batch.indices("csr", host=True), batch.indices("csr")
        arrays = {name: self.torch.from_numpy(array.numpy()) for name, array in here.items()}
        return arrays | {"kv_indices": there["kv_indices"].torch()}

    @property
    def resolved(self):
        """What FlashInfer made of `auto`."""
        return getattr(self.wrapper, "_backend", "") if self.backend.template == "auto" else ""

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
        if problem.has_alibi:
            self.layer["pos_encoding_mode"] = "ALIBI"
        self.heads = (problem.heads_q, problem.heads_kv, problem.head_dim_qk)

    def launch(self):
        if self.backend.with_lse:
            self.forward(self.wrapper, self.out, self.lse)
            self.lse.mul_(LN2)
        else:
            self.forward(self.wrapper, self.out)
