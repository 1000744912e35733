# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashMLA in sgl-flash-mla, SGLang's build of it, whose kernels for Hopper are its legacy half."""
from engine_packages import Library
from engine_tools import first_reason, with_lse_variants
from flashmla_sparse import FlashMlaSparse
from flashmla_sparse_prefill import SparsePrefill
from vllm_flashmla import FP8_CALLS, FlashMla, FlashMlaPlan

LEGACY = Library("flash_mla", "flash_mla_legacy", ("_C_legacy.abi3.so",))
REQUIRES = {"sgl-flash-mla": "1.0.0", "torch": "2.14.1"}
WITH_TRITON = {**REQUIRES, "triton": "3.8.0"}


class DensePlan(FlashMlaPlan):
    writes_out = False


class SglDense(FlashMla):
    name = "flashmla:sgl"
    description = ("FlashMLA's dense decode in SGLang's build, over pages of 64 latent rows; over an e4m3 cache with "
                   "queries rounded to e4m3")
    requires = REQUIRES
    kernel = "flash_mla_legacy.dense_decode_fwd; flash_mla_legacy.fwd_kvcache_mla_fp8"
    calls = {LEGACY: f"dense_decode_fwd {FP8_CALLS}"}
    fp8_library = LEGACY
    plans = DensePlan


class SglSparse(FlashMlaSparse):
    name = "flashmla:sgl_sparse"
    description = ("FlashMLA's sparse decode in SGLang's build, given the chosen keys, or every key of each query where a "
                   "layer chooses none")
    requires = WITH_TRITON
    kernel = "flash_mla_legacy.sparse_decode_fwd"
    calls = {LEGACY: "sparse_decode_fwd"}

    def requests_of(self, batch):
        """SGLang's flashmla_kv makes each query token of a step of chosen keys a request, prompts included."""
        return sum(batch.q_lens) if batch.problem.topk > 0 else batch.batch_size

    def no_step(self, problem):
        return first_reason(
            (problem.topk == 0 and problem.mode not in ("decode", "target_verify"),
             f"of every key decodes and chains of drafts only, not {problem.mode}"),
            (problem.topk > 0 and problem.max_q_tokens > 11000,
             "11000 query tokens at most: its schedule has them all in the shared memory of one block"))


class SglSparsePrefill(SparsePrefill):
    name = "flashmla:sgl_sparse_prefill"
    description = "FlashMLA's sparse prefill in SGLang's build over bf16 latent rows, a list of chosen keys for each query token"
    requires = WITH_TRITON
    kernel = "flash_mla_legacy.sparse_prefill_fwd"
    calls = {LEGACY: "sparse_prefill_fwd"}
    writes_out = False

    def write_lists(self, chosen, rows, lengths):
        chosen.write(rows)
        lengths.copy_(chosen.lengths())


backends = with_lse_variants(SglDense, SglSparse, SglSparsePrefill)
