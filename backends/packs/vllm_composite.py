# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""vLLM's composite for models that read images: Triton where a step shows keys ahead, FlashAttention for all others."""
from engine_packages import Functions
from engine_tools import first_reason, with_values
from vllm_triton import TritonUnified
from vllm_wheel import WITH_TRITON

COMPOSITE = Functions(("vllm.v1.attention.backends.composite",), alone=True)


def shows_keys_ahead(batch):
    """vLLM's requires_mm_prefix(), by which a whole step takes one kernel: some query sees a key behind its own by its
    span. Keys of a span that goes on in the prompt's next chunk are not there yet, and do not count."""
    if not batch.problem.spans:
        return False
    ends, first = batch.tensor("spans").torch()[:, 1].tolist(), 0
    for q_len, kv_len in zip(batch.q_lens, batch.kv_lens):
        if any(min(end, kv_len) - 1 > kv_len - q_len + query for query, end in enumerate(ends[first:first + q_len])):
            return True
        first += q_len
    return False


class TritonFlashAttn:
    """A subclass has `causal`, the classes of FlashAttention by their head dim."""
    name = "vllm:triton_flash_attn"
    description = ("vLLM's TRITON_FLASH_ATTN: Triton for all requests of a step with a query that sees keys ahead, else "
                   "FlashAttention 3, of head dim 512 FlashAttention 4")
    requires = {**WITH_TRITON, "vllm": "0.33.0"}
    kernel = "unified_attention, _vllm_fa3_C.fwd or _flash_attn_fwd"
    index_format = "block_table, cu_seqlens_q, seqused_k"
    device = "cuda"
    graph_support = "UNIFORM_SINGLE_TOKEN_DECODE"
    padding_seq_len = 0

    def __init__(self):
        self.triton = TritonUnified()
        self.by_dim = {dim: causal() for dim, causal in self.causal.items()}
        self.faults = {}

    def load(self):
        COMPOSITE.name()  # older versions have the kernels, but not this backend
        self.triton.load()
        for dim, causal in self.by_dim.items():
            try:
                causal.load()
            except Exception as fault:  # a model has layers of one head dim, and needs the others' kernel for nothing
                self.faults[dim] = f"no {causal.kernel}: {fault}"
        if len(self.faults) == len(self.by_dim):
            raise RuntimeError("; ".join(self.faults.values()))

    def supports(self, problem):
        dim = problem.head_dim_qk
        return first_reason(
            (problem.step != "attention" or problem.family != "softmax", "attention over keys and values of their own only"),
            (dim not in self.by_dim, f"head dims of {' and '.join(map(str, self.by_dim))} only"),
            (problem.cache_dtype != problem.dtype,
             "a cache of the queries' type: over e4m3 FlashAttention rounds queries to it, and Triton does not"),
            (problem.recorded and problem.sliding_window_size >= 0,
             "no graphs of layers with a window: vLLM records none where images see past it"),
            (dim in self.faults, self.faults.get(dim))) or self.triton.supports(problem) or self.by_dim[dim].supports(
                with_values(problem, spans=False))

    def formats(self, problem):
        causal = self.by_dim.get(problem.head_dim_qk, self.triton)  # another dim is refused for its own reason
        return [each for each in self.triton.formats(problem) if each in causal.formats(problem)]

    def numerics(self, problem):
        return self.triton.numerics(problem)

    def plan(self, batch):
        taken = self.triton if shows_keys_ahead(batch) else self.by_dim[batch.problem.head_dim_qk]
        plan = taken.plan(batch)
        plan.resolved = taken.kernel
        return plan
