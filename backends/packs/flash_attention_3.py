# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashAttention 3 as vLLM and others ship it: one operator with one set of argument names, in builds that differ in
what was left out to save space."""
from engine_packages import arguments_of, need_gpu
from engine_tools import Plan, first_reason, no_latent_attention, no_paged_attention

# vLLM's flash_attn_max_num_splits_for_cuda_graph: partial results have to have room before the lengths are known.
GRAPH_SPLITS = 32

SHARED_SCALES = ("tensor", "head", "request")  # what its descales [requests, KV heads] can say


class FlashAttention3:
    """A backend of one build. It has `operators`, a torch.ops namespace, and says what was left out."""
    device = "cuda"
    index_format = "page_table, cu_seqlens_q, seqused_k"
    graph_support = "ALWAYS"
    padding_seq_len = 0
    head_dims = {(64, 64), (96, 96), (128, 128), (192, 192), (256, 256), (192, 128)}  # of keys and of values
    dtypes = ("f16", "bf16")
    softcap = True
    sinks = False
    chunks = True  # by virtual requests, in vLLM and SGLang
    reads_fp8_queries = True
    reads_page_gaps = True
    with_lse = False
    num_splits = None  # None: the library decides; where a graph is recorded, up to GRAPH_SPLITS
    tuning = {"num_splits": ([1, 2, 4, 8, 16, 32], "")}
    ragged_arguments = {}  # of a build that reads ragged keys, what has no default

    def check_gpu(self):
        need_gpu(9, "FlashAttention 3")

    def supports(self, problem):
        fp8 = problem.cache_dtype == "e4m3"
        dims = (problem.head_dim_qk, problem.head_dim_v)
        return no_paged_attention(problem, self.dtypes, sinks=True, chunks=self.chunks, window_ahead=True) or first_reason(
            (problem.has_sinks and not self.sinks, "this build has no sinks"),
            (problem.cache_dtype == "e5m2", "fp8 as e4m3 only"),
            (not fp8 and problem.cache_dtype != problem.dtype, "a cache of the queries' type, or e4m3"),
            (fp8 and problem.dtype != "bf16", "over an fp8 cache it writes bf16 only"),
            (problem.cache_scales not in SHARED_SCALES, "scales of a tensor, head or request only"),
            (problem.q_dtype == "e5m2", "queries in e4m3 only, of fp8"),
            (problem.q_dtype == "e4m3" and not fp8, "queries in e4m3 over an e4m3 cache only"),
            (problem.q_scales not in SHARED_SCALES,
             f"no query scales per {problem.q_scales}: its q_descale is of a request and KV head"),
            (problem.logit_cap > 0 and not self.softcap, "this build leaves softcap out"),
            (dims not in self.head_dims, f"head dims {dims[0]}/{dims[1]} are not among "
             + ", ".join(f"{qk}/{v}" for qk, v in sorted(self.head_dims))))

    def formats(self, problem):
        return ["NHD", "HND", "combined", "joint", "joint_hnd"] if problem.cache_scales in SHARED_SCALES else []

    def numerics(self, problem):
        if problem.cache_dtype == "e4m3":  # the tensor cores multiply e4m3 with e4m3: weights are rounded, and queries in bf16
            return {"qk_input": "e4m3", "p": "e4m3", "lse": self.with_lse}
        return {"p": problem.dtype, "lse": self.with_lse}

    def plan(self, batch):
        return PagedPlan(batch, self)


class AbsorbedMla(FlashAttention3):
    """Absorbed MLA as vLLM's FLASH_ATTN_MLA and SGLang's fa3 call it: keys of the 64 rotated numbers, and the latent
    numbers as values that queries of their own are multiplied with as well."""
    reads_fp8_queries = False
    reads_queries_apart = True

    def supports(self, problem):
        no_fp8 = "no fp8 cache: FlashAttention 3 takes q_v, the queries of the latent part, in f16 and bf16 alone"
        return no_latent_attention(problem, no_fp8) or first_reason(
            (problem.mode not in ("decode", "target_verify"),
             "decodes and chains of drafts only: vLLM computes prompts from expanded keys"))

    def formats(self, problem):
        return ["NHD", "combined"] if problem.cache_scales == "tensor" else []

    def plan(self, batch):
        return AbsorbedPlan(batch, self)


def one_gpu(forward):
    """What vLLM's build asks for besides: no context is spread over several GPUs."""
    spread = any(argument.name == "cp_world_size" for argument in forward._schema.arguments)
    return {"cp_world_size": 1, "cp_rank": 0} if spread else {}


def sinks_of(plan):
    return {"s_aux": plan.sinks.bfloat16()} if plan.problem.has_sinks else {}


class RaggedPlan(Plan):
    """Ragged keys, as flash_attn_varlen_func takes them: no pages, and nothing that is computed ahead."""
    follows = False

    def bind(self, batch, backend):
        self.with_lse, self.forward = backend.with_lse, backend.operators.fwd.default
        self.arguments = arguments_of(
            self.forward, q=self.q, out=self.out, is_causal=self.causal, softcap=self.problem.logit_cap,
            window_size_left=self.window, window_size_right=self.window_ahead, **self.keys(batch),
            **backend.ragged_arguments, **sinks_of(self), **one_gpu(self.forward))

    def keys(self, batch):
        starts, (longest_q, longest_k) = batch.indices("varlen"), self.longest(batch)
        return {"k": self.k_cache, "v": self.v_cache, "cu_seqlens_q": starts["cu_seqlens_q"].torch(),
                "cu_seqlens_k": starts["cu_seqlens_k"].torch(), "max_seqlen_q": longest_q, "max_seqlen_k": longest_k,
                "softmax_scale": self.logit_scale(batch)}

    def prepare(self, batch):
        pass

    def launch(self):
        lse = self.forward(*self.arguments)[1]  # [query heads, tokens]
        if self.with_lse:
            self.lse.copy_(lse.t())


class PagedPlan(Plan):
    def bind(self, batch, backend):
        problem, torch = self.problem, self.torch
        self.operators, self.with_lse, self.num_splits = backend.operators, backend.with_lse, backend.num_splits
        self.head_dims, self.latent_queries = (problem.head_dim_qk, problem.head_dim_v), {}
        self.fp8 = problem.cache_dtype == "e4m3"
        if self.fp8 and problem.q_dtype != "e4m3":
            # vLLM rounds the queries in the layer, before attention. Whoever has queries in bf16 has to do the same.
            self.q_in = torch.empty_like(self.q, dtype=self.k_cache.dtype)
        else:
            self.q_in = self.q
        shape = (batch.batch_size, problem.heads_kv)
        scales = [batch.tensor(role) for role in ("q_scales", "k_scales", "v_scales")]
        self.descales = [(each.torch() if each else torch.tensor([whole], device="cuda")).expand(shape)
                         for each, whole in zip(scales, (batch.q_scale, batch.k_scale, batch.v_scale))]
        self.schedule = None

    def prepare(self, batch):
        problem = self.problem
        table = batch.indices("page_table")
        page_table, seq_lens = table["page_table"].torch(), table["cache_seqlens"].torch()
        query_starts = batch.indices("varlen")["cu_seqlens_q"].torch()
        longest_q, longest_kv = self.longest(batch)
        shared = {"cu_seqlens_q": query_starts, "seqused_k": seq_lens, "max_seqlen_q": longest_q,
                  "max_seqlen_k": longest_kv, "is_causal": self.causal, "window_size_left": self.window,
                  "window_size_right": self.window_ahead, "sm_margin": 0,
                  "num_splits": self.num_splits or (GRAPH_SPLITS if problem.recorded else 0)}
        # What vLLM computes once a step for all layers: how many splits each request is worth, longest requests first.
        plan_work = self.operators.get_scheduler_metadata.default
        schedule = plan_work(*arguments_of(
            plan_work, batch_size=batch.batch_size, num_heads=problem.heads_q, num_heads_k=problem.heads_kv,
            headdim=self.head_dims[0], headdim_v=self.head_dims[1], qkv_dtype=self.q_in.dtype,
            page_size=problem.page_size, max_seqlen_k_new=0, has_softcap=problem.logit_cap > 0, **shared))
        if self.schedule is not None:
            self.schedule.copy_(schedule)
            return
        self.schedule, self.forward = schedule, self.operators.fwd.default
        given = dict(zip(("q_descale", "k_descale", "v_descale"), self.descales)) if self.fp8 else {}
        given |= sinks_of(self) | one_gpu(self.forward)
        self.arguments = arguments_of(
            self.forward, q=self.q_in, k=self.k_cache, v=self.v_cache, out=self.out, page_table=page_table,
            softmax_scale=self.logit_scale(batch), softcap=problem.logit_cap, scheduler_metadata=self.schedule,
            is_rotary_interleaved=True, **shared, **given, **self.latent_queries)

    def launch(self):
        if self.q_in.dtype != self.q.dtype:
            self.q_in.copy_(self.q)
        lse = self.forward(*self.arguments)[1]  # [query heads, tokens]
        if self.with_lse:
            self.lse.copy_(lse.t())


class AbsorbedPlan(PagedPlan):
    joins_queries = False

    def bind(self, batch, backend):
        latent_queries, self.q = self.query_parts()
        super().bind(batch, backend)
        latent, rows = self.problem.head_dim_v, self.k_cache
        self.latent_queries = {"q_v": latent_queries}
        self.k_cache, self.v_cache = rows[..., latent:], rows[..., :latent]
        self.head_dims = (self.problem.head_dim_qk - latent, latent)
