# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashInfer's absorbed MLA."""
import inspect

from engine_tools import first_reason, no_latent_attention, step_of
from flashinfer_wrappers import MLA, PARTIAL, WORKSPACES, FlashInfer, WrapperPlan


class MlaPlan(WrapperPlan):
    joins_queries = False

    def bind(self, batch, backend):
        self.parts = self.query_parts()
        self.q = self.parts[0]
        self.masked = self.problem.mode != "decode"
        super().bind(batch, backend)

    def make(self, batch):
        buffers = {}
        if self.problem.recorded:
            buffers = {"use_cuda_graph": True, "qo_indptr": self.buffers["qo_indptr"],
                       "kv_indptr": self.buffers["kv_indptr"], "kv_indices": self.buffers["kv_indices"],
                       "kv_len_arr": self.buffers["last"]}
        self.wrapper = self.library.mla.BatchMLAPagedAttentionWrapper(
            self.memory, backend=self.backend.template, **buffers)
        latent, pages = self.problem.head_dim_v, self.cache_pages()
        self.cache_parts = pages[..., :latent], pages[..., latent:]

    def cache_pages(self):
        """[pages, page size, dim]"""
        return self.k_cache[:, :, 0]

    def indices(self, batch):
        return {**super().indices(batch), "kv_len_arr": self.torch.tensor(batch.kv_lens, dtype=self.torch.int32)}

    def prepare(self, batch):
        problem = self.problem
        csr, latent = self.indices(batch), problem.head_dim_v
        keys = [csr[name] for name in ("qo_indptr", "kv_indptr", "kv_indices", "kv_len_arr")]
        layer = {"num_heads": problem.heads_q, "head_dim_ckv": latent, "head_dim_kpe": problem.head_dim_qk - latent,
                 "page_size": self.cache_parts[0].shape[1], "causal": self.masked,
                 "sm_scale": self.logit_scale(batch), "q_data_type": self.q.dtype, "kv_data_type": self.k_cache.dtype}
        self.given = {"lse": self.lse, "return_lse": True, "return_lse_base_on_e": True} if self.backend.with_lse else {}
        if not self.backend.takes_parts:
            self.wrapper.plan(*keys, **layer)
            self.given |= dict(zip(("q_nope", "q_pe", "ckv_cache", "kpe_cache"), (*self.parts, *self.cache_parts)))
            return
        fp8 = problem.cache_dtype == "e4m3"
        self.wrapper.plan(
            metadata=self.library.mla.MLAPlanMetadata.csr(*keys), query_layout="split", kv_cache_layout="split",
            lse_mode="basee" if self.backend.with_lse else "none", scale_mode="kv-per-tensor" if fp8 else "default",
            **layer)
        self.given |= {"query": self.parts, "kv_cache": self.cache_parts}
        if fp8:
            self.given |= {"ckv_scale": batch.k_scale, "kpe_scale": batch.k_scale}

    def launch(self):
        self.wrapper.run(out=self.out, **self.given)


class MlaFa2(FlashInfer):
    name = "flashinfer:mla_fa2"
    description = "FlashInfer's absorbed MLA over pages, FlashAttention 2's design"
    kernel = "BatchMLAPagedAttentionWrapper, fa2"
    calls = {MLA: "BatchMLAPagedAttentionWrapper.__init__ BatchMLAPagedAttentionWrapper.plan "
             "BatchMLAPagedAttentionWrapper.run"}
    modes = ("decode", "extend", "mixed", "draft_extend")
    graph_support = "UNIFORM_BATCH"
    tuning = WORKSPACES
    plans = MlaPlan
    reads_queries_apart = True
    takes_parts = True  # plan() is told how queries and caches lie, and of scales; 0.6.9's is not

    def load(self):
        super().load()
        plan = self.library.mla.BatchMLAPagedAttentionWrapper.plan
        self.takes_parts = "scale_mode" in inspect.signature(plan).parameters

    def numerics(self, problem):  # rows in fp8 are widened to the queries' type
        return {"p": problem.dtype, **PARTIAL, "partial_out": problem.dtype, "qk_input": problem.dtype,
                "lse": self.with_lse}

    def supports(self, problem):
        no_fp8 = None if self.takes_parts else "no fp8 cache: this version's MLA has no scale for one"
        return no_latent_attention(problem, no_fp8) or first_reason(
            (problem.cache_dtype == "e4m3" and problem.dtype != "bf16", "over an e4m3 cache queries in bf16 only"),
            (step_of(problem) not in self.modes, f"{' and '.join(self.modes)} steps only, not {problem.mode}"))


class MlaFa3(MlaFa2):
    name = "flashinfer:mla_fa3"
    description = "FlashInfer's absorbed MLA over pages, FlashAttention 3's design"
    kernel = "BatchMLAPagedAttentionWrapper, fa3"
    template = "fa3"
