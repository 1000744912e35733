# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashInfer over keys without pages, and over two sets of keys whose results are merged."""
from engine_tools import first_reason, request_rows, shared_pages
from flashinfer_wrappers import CASCADE, LN2, PAGED_WRAPPER, PREFILL, RAGGED_WRAPPER, FlashInfer, WrapperPlan

MOST_MERGED = 8192  # heads times head dim: the merge has a thread for each 8 numbers of a token, 1024 in all


class RaggedPagedPlan(WrapperPlan):
    """SGLang's prompts: the new keys as they are, then the cached ones by token slots, in pages of 1, merged. Without a
    cached prefix in the batch only the former."""
    follows = False

    def make(self, batch):
        memory, library = self.memory, self.library
        self.wrapper = library.BatchPrefillWithRaggedKVCacheWrapper(memory, "NHD", backend=self.backend.template)
        self.prefix = library.BatchPrefillWithPagedKVCacheWrapper(memory, "NHD", backend="fa2")
        self.new = [request_rows(batch, role) for role in ("k_new", "v_new")]
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


class RaggedPaged(FlashInfer):
    name = "flashinfer:ragged_paged"
    description = "FlashInfer as SGLang calls it for prompts: new keys ragged, cached ones paged by token, merged"
    kernel = "BatchPrefillWithRaggedKVCacheWrapper, BatchPrefillWithPagedKVCacheWrapper fa2, merge_state_in_place"
    calls = {PREFILL: f"{PAGED_WRAPPER} {RAGGED_WRAPPER}", CASCADE: "merge_state_in_place"}
    template = "auto"
    index_format = "csr_prefix"
    graph_support = "NEVER"
    modes = ("extend", "mixed", "draft_extend")
    fp8_cache = False  # the new keys would not be what is cached
    formats = ("NHD", "combined")
    reads_page_gaps = False  # a page of one token begins where the one before ends
    plans = RaggedPagedPlan

    def supports(self, problem):
        return super().supports(problem) or first_reason(
            (not problem.causal or problem.is_cross_attention, "causal self-attention only"),
            (problem.sliding_window_size >= 0, "no window: SGLang takes the paged kernel there"),
            (problem.mode == "target_verify", "no drafts: SGLang verifies them over pages"),
            (problem.heads_q * problem.head_dim_v > MOST_MERGED, f"more than {MOST_MERGED} numbers a token to merge"))


class RaggedPlan(WrapperPlan):
    """Ragged keys alone."""
    follows = False

    def make(self, batch):
        self.wrapper = self.library.BatchPrefillWithRaggedKVCacheWrapper(self.memory, "NHD", backend=self.backend.template)

    def prepare(self, batch):
        self.schedule(batch)
        here = batch.indices("varlen", host=True)
        starts = [self.torch.from_numpy(here[name].numpy()) for name in ("cu_seqlens_q", "cu_seqlens_k")]
        scale = {"sm_scale": self.logit_scale(batch)}
        self.wrapper.plan(*starts, *self.heads, head_dim_vo=self.problem.head_dim_v, causal=self.causal,
                          **self.layer | scale)

    def forward(self, wrapper, out, lse=None):
        return wrapper.run(self.q, self.k_cache, self.v_cache, out=out, lse=lse, return_lse=lse is not None)


class Ragged(FlashInfer):
    name = "flashinfer:ragged"
    description = "FlashInfer's prefill over ragged keys: prompts without a prefix, expanded MLA"
    kernel = "BatchPrefillWithRaggedKVCacheWrapper"
    calls = {PREFILL: RAGGED_WRAPPER}
    template = "auto"
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

    def prepare(self, batch):
        self.schedule(batch)
        here = {name: array.numpy() for name, array in batch.indices("csr", host=True).items()}
        starts, pages = here["kv_indptr"], here["kv_indices"]
        shared = shared_pages(batch, starts, pages)
        self.has_prefix = shared > 0
        ints = lambda values: self.torch.from_numpy(self.numpy.asarray(values, dtype=self.numpy.int32))
        common = (*self.heads, self.problem.page_size)
        if self.has_prefix:
            prefix = ints(pages[starts[0]:starts[0] + shared]).cuda()
            self.prefix.plan(ints([0, sum(batch.q_lens)]), ints([0, shared]), prefix, ints([self.problem.page_size]),
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
    calls = {PREFILL: PAGED_WRAPPER, CASCADE: "merge_state_in_place"}
    graph_support = "NEVER"
    modes = ("decode", "extend", "mixed")
    plans = CascadePlan

    def supports(self, problem):
        return super().supports(problem) or first_reason(
            (not problem.causal or problem.is_cross_attention, "causal self-attention only"),
            (problem.sliding_window_size >= 0, "no window: its levels would count from different ends"),
            (problem.heads_q * problem.head_dim_v > MOST_MERGED, f"more than {MOST_MERGED} numbers a token to merge"))
