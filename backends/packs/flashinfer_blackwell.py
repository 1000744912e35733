# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashInfer's kernels of Blackwell, sm_100. Elsewhere they are listed, and refused with that reason."""
from engine_packages import need_gpu
from engine_tools import Plan, first_reason, no_latent_attention, reserved
from flashinfer_wrappers import DECODE, MLA, FlashInfer


class Blackwell(FlashInfer):
    def load(self):
        super().load()
        need_gpu(10, self.kernel)

    def numerics(self, problem):
        return {"p": problem.dtype, "lse": False}


class TrtllmGenPlan(Plan):
    def bind(self, batch, backend):
        self.library = backend.library
        # Counters in it begin with zeros.
        (self.memory,) = reserved(batch, ((backend.workspace,), self.torch.uint8))
        self.memory.zero_()
        swap = (lambda x: x.transpose(1, 2))  # HND, which it reads
        self.cache = swap(self.k_cache), swap(self.v_cache)

    def prepare(self, batch):
        table = {name: array.torch() for name, array in batch.indices("page_table").items()}
        self.given = {"block_tables": table["page_table"], "seq_lens": table["cache_seqlens"],
                      "max_seq_len": self.longest(batch)[1], "bmm1_scale": self.problem.scale * batch.k_scale,
                      "bmm2_scale": batch.v_scale, "window_left": self.window, "sinks": self.sinks}

    def launch(self):
        self.library.decode.trtllm_batch_decode_with_kv_cache(
            self.q, self.cache, self.memory, out=self.out, backend="trtllm-gen", kv_layout="HND", **self.given)


class TrtllmGen(Blackwell):
    name = "flashinfer:trtllm_gen"
    description = "TensorRT-LLM's decode for Blackwell, as FlashInfer ships it; listed and refused below sm_100"
    kernel = "trtllm_batch_decode_with_kv_cache, trtllm-gen"
    calls = {DECODE: "trtllm_batch_decode_with_kv_cache"}
    index_format = "page_table"
    formats = ("HND",)
    sinks = True
    fp8_cache = False
    plans = TrtllmGenPlan

    def supports(self, problem):
        return super().supports(problem) or first_reason(
            (not problem.causal or problem.is_cross_attention, "causal self-attention only"),
            (problem.page_size not in (16, 32, 64), f"pages of 16, 32 or 64, not {problem.page_size}"),
            (problem.logit_cap > 0, "no softcap"))


class CutlassMlaPlan(Plan):
    joins_queries = False

    def bind(self, batch, backend):
        latent = self.problem.head_dim_v
        (memory,) = reserved(batch, ((backend.workspace,), self.torch.int8))
        self.wrapper = backend.library.mla.BatchMLAPagedAttentionWrapper(memory, backend="cutlass")
        rows = self.k_cache[:, :, 0]
        self.parts = (*self.query_parts(), rows[..., :latent], rows[..., latent:])

    def prepare(self, batch):
        table = {name: array.torch() for name, array in batch.indices("page_table").items()}
        self.given = {"kv_len": table["cache_seqlens"], "page_table": table["page_table"]}

    def launch(self):
        self.wrapper.run(*self.parts, out=self.out, **self.given)


class CutlassMla(Blackwell):
    name = "flashinfer:cutlass_mla"
    description = "CUTLASS's absorbed MLA for Blackwell, as FlashInfer ships it; listed and refused below sm_100"
    kernel = "BatchMLAPagedAttentionWrapper, cutlass"
    calls = {MLA: "BatchMLAPagedAttentionWrapper.__init__ BatchMLAPagedAttentionWrapper.run"}
    index_format = "page_table"
    formats = ("NHD",)
    reads_queries_apart = True
    plans = CutlassMlaPlan

    def supports(self, problem):
        return no_latent_attention(problem) or first_reason(
            (problem.mode != "decode" or problem.max_q_len > 1, "decodes of one token only"),
            (problem.heads_q != 128, f"128 query heads only, not {problem.heads_q}: engines pad them"),
            (128 % problem.page_size != 0, f"pages that divide 128, not of {problem.page_size}"),
            (problem.empty_rows, "no requests without keys"))
