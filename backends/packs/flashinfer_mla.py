# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashInfer's absorbed MLA."""
from engine_tools import first_reason, no_latent_attention, step_of
from flashinfer_wrappers import WORKSPACES, FlashInfer, WrapperPlan


class MlaPlan(WrapperPlan):
    joins_queries = False

    def bind(self, batch, backend):
        self.parts = self.query_parts()
        self.q = self.parts[0]
        super().bind(batch, backend)

    def make(self, batch):
        buffers = {}
        if self.problem.recorded:
            buffers = {"use_cuda_graph": True, "qo_indptr": self.buffers["qo_indptr"],
                       "kv_indptr": self.buffers["kv_indptr"], "kv_indices": self.buffers["kv_indices"],
                       "kv_len_arr": self.buffers["last"]}
        self.wrapper = self.library.mla.BatchMLAPagedAttentionWrapper(
            self.memory, backend=self.backend.template, **buffers)
        latent = self.problem.head_dim_v
        rows = self.k_cache[:, :, 0]
        self.parts += rows[..., :latent], rows[..., latent:]

    def prepare(self, batch):
        problem = self.problem
        csr = self.indices(batch)
        lens = self.torch.tensor(batch.kv_lens, dtype=self.torch.int32)
        latent = problem.head_dim_v
        self.wrapper.plan(csr["qo_indptr"], csr["kv_indptr"], csr["kv_indices"], lens, problem.heads_q, latent,
                          problem.head_dim_qk - latent, problem.page_size, problem.mode != "decode",
                          self.logit_scale(batch), self.q.dtype, self.k_cache.dtype)

    def launch(self):
        if self.backend.with_lse:
            self.wrapper.run(*self.parts, out=self.out, lse=self.lse, return_lse=True, return_lse_base_on_e=True)
        else:
            self.wrapper.run(*self.parts, out=self.out)


class MlaFa2(FlashInfer):
    name = "flashinfer:mla_fa2"
    description = "FlashInfer's absorbed MLA over pages, FlashAttention 2's design"
    kernel = "BatchMLAPagedAttentionWrapper, fa2"
    modes = ("decode", "extend", "mixed", "draft_extend")
    graph_support = "UNIFORM_BATCH"
    tuning = WORKSPACES
    plans = MlaPlan
    reads_queries_apart = True

    def supports(self, problem):
        no_fp8 = "no fp8 cache: FlashInfer 0.6.9's MLA has no scale for one"
        return no_latent_attention(problem, no_fp8) or first_reason(
            (step_of(problem) not in self.modes, f"{' and '.join(self.modes)} steps only, not {problem.mode}"))


class MlaFa3(MlaFa2):
    name = "flashinfer:mla_fa3"
    description = "FlashInfer's absorbed MLA over pages, FlashAttention 3's design"
    kernel = "BatchMLAPagedAttentionWrapper, fa3"
    template = "fa3"
