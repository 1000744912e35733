# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""FlashAttention 3 in builds of its own, on torch's stable ABI: any torch from 2.10 with CUDA 13 loads them."""
from engine_packages import Library
from engine_tools import first_reason, request_rows, with_lse_variants
from flash_attention_3 import FlashAttention3, RaggedPlan

TOKENSPEED = Library("flash_attn_3", "flash_attn_3", ("_C.abi3.so",))
FA3_FWD = Library("fa3_fwd", "fa3_fwd", ("_C.abi3.so",))


class TokenSpeed(FlashAttention3):
    name = "fa3:tokenspeed"
    description = "FlashAttention 3 of tokenspeed-fa3, over pages; built without softcap"
    requires = {"tokenspeed-fa3": "3.0.0.post20260810", "torch": "2.11.0..2.14.1"}
    kernel = "flash_attn_3.fwd"
    calls = {TOKENSPEED: "fwd get_scheduler_metadata"}
    head_dims = {(64, 64), (128, 128), (192, 192), (256, 256)}
    softcap = False

    def load(self):
        self.operators = TOKENSPEED.load("fwd")
        self.check_gpu()


class Fa3Fwd(FlashAttention3):
    """Built without pages: it reads ragged keys, or a prompt's own keys and values, as an engine has them before it
    caches them."""
    name = "fa3:fwd"
    description = ("FlashAttention 3 of fa3-fwd, for ragged keys, and prompts without a cached prefix; built without "
                   "pages and windows")
    requires = {"fa3-fwd": "0.0.3", "torch": "2.11.0..2.14.1"}
    kernel = "fa3_fwd.fwd"
    calls = {FA3_FWD: "fwd"}
    index_format = "cu_seqlens_q, cu_seqlens_k"
    dtypes = ("bf16",)
    tuning = {}  # prompts are not split
    chunks = False  # a virtual request's keys lie in pages

    def load(self):
        self.operators = FA3_FWD.load("fwd")
        self.check_gpu()

    def formats(self, problem):
        return [*super().formats(problem), "ragged"]

    def supports(self, problem):
        ragged = problem.cache_layout == "ragged"
        # Only where all prompts are equally long does a problem tell that none has a prefix.
        whole = (problem.max_q_len == problem.max_kv_len
                 and problem.max_q_tokens == problem.max_requests * problem.max_q_len)
        return super().supports(problem) or first_reason(
            (not ragged and (problem.mode != "extend" or not whole or problem.is_cross_attention),
             "ragged keys, or equally long prompts without a cached prefix only: this build leaves pages out"),
            (problem.cache_dtype != problem.dtype, "it reads the new keys, which are not in fp8"),
            (problem.sliding_window_size >= 0, "this build leaves windows out"))

    def plan(self, batch):
        return (RaggedPlan if batch.problem.cache_layout == "ragged" else PromptPlan)(batch, self)


class PromptPlan(RaggedPlan):
    def keys(self, batch):
        if batch.q_lens != batch.kv_lens:
            raise ValueError("a prompt has a cached prefix, and this build leaves pages out")
        keys, values = (request_rows(batch, role) for role in ("k_new", "v_new"))
        starts, longest = batch.tensor("query_start_loc").torch(), max(batch.q_lens)
        return {"k": keys, "v": values, "cu_seqlens_q": starts, "cu_seqlens_k": starts, "max_seqlen_q": longest,
                "max_seqlen_k": longest, "softmax_scale": self.problem.scale}


backends = with_lse_variants(TokenSpeed, Fa3Fwd)
