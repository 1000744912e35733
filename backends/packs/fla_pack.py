# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Gated delta nets of flash-linear-attention: the chunked rule for prompts, the recurrent one for everything.

Its functions take the states of a batch one behind the other, [requests, value heads, key dim, value dim], and return new
ones. The gather out of the pool, zeros for requests that begin with nothing, the scatter back and the copy of O, which is
returned as well, are part of the time: an engine with a pool of states has all of them to do around these functions.
"""
import importlib.metadata
import os

from engine_tools import Plan, first_reason, import_bare

CHUNK = 64  # tokens; the default of chunk_gated_delta_rule
BARE = ["fla", "fla.ops", "fla.ops.gated_delta_rule", "fla.modules", "fla.modules.norm"]


class DeltaRule:
    requires = {"fla-core": "0.6.0", "torch": "2.11.0", "triton": "3.6.0"}
    index_format = "state_indices, cu_seqlens"
    device = "cuda"
    graph_support = "NEVER"  # it returns memory of its own

    def load(self):
        # Arrays that follow from cu_seqlens are kept for a few of them: for as many as there are placements, so that a
        # timed forward finds them, as all layers of a step but the first do.
        os.environ.setdefault("FLA_TENSOR_CACHE_SIZE", "64")
        version = {"__version__": importlib.metadata.version("fla-core")}
        module = import_bare(f"fla.ops.gated_delta_rule.{self.module}", BARE, {"fla": version})
        self.rule = getattr(module, self.kernel)

    def supports(self, problem):
        return first_reason(
            (problem.family != "recurrent", "recurrent layers only: it keeps a state instead of keys and values"),
            (problem.step != "attention", "attention only: it writes no cache"),
            (problem.dtype not in self.dtypes, self.other_dtypes),
            (problem.head_dim_qk > 256, "key dims up to 256 only"))

    def plan(self, batch):
        return StatePlan(batch, self)


class StatePlan(Plan):
    follows = False

    def bind(self, batch, backend):
        self.k, self.v, self.g, self.beta, self.states = (
            batch.tensor(role).torch() for role in ("k_new", "v_new", "g", "beta", "states"))
        self.rule, self.options_of = backend.rule, backend.options

    def prepare(self, batch):
        slots, kept, starts = (
            batch.tensor(role).torch() for role in ("state_indices", "has_initial_state", "query_start_loc"))
        self.slots = slots.long()
        self.fresh = self.torch.nonzero(kept == 0).flatten()  # requests whose slots hold nothing of theirs
        self.all_fresh = len(self.fresh) == batch.batch_size
        self.options = {"cu_seqlens": starts.long(), **self.options_of(batch, self.torch)}

    def initial_states(self):
        """None where all requests begin with nothing."""
        if self.all_fresh:
            return None
        states = self.states.index_select(0, self.slots)
        if len(self.fresh) > 0:
            states.index_fill_(0, self.fresh, 0)
        return states

    def launch(self):
        of_batch = (tensor.unsqueeze(0) for tensor in (self.q, self.k, self.v, self.g, self.beta))
        q, k, v, g, beta = of_batch  # one sequence, cut by cu_seqlens
        out, states = self.rule(q, k, v, g=g, beta=beta, scale=self.problem.scale, initial_state=self.initial_states(),
                                output_final_state=True, use_qk_l2norm_in_kernel=True, **self.options)
        self.out.copy_(out[0])
        self.states.index_copy_(0, self.slots, states)


class FusedRecurrent(DeltaRule):
    name = "fla:fused_recurrent_gated_delta_rule"
    description = "flash-linear-attention's kernel token by token; gather and scatter of the states included"
    kernel = "fused_recurrent_gated_delta_rule"
    module = "fused_recurrent"
    dtypes, other_dtypes = ("f32", "f16", "bf16"), "f32, f16 and bf16 only"

    def options(self, batch, torch):
        return {}

    def numerics(self, problem):
        return {"lse": False}  # f32 throughout: q, k and v are widened where they are read, only O is rounded


class Chunk(DeltaRule):
    name = "fla:chunk_gated_delta_rule"
    description = "flash-linear-attention's kernels in chunks of 64 tokens; gather and scatter of the states included"
    kernel = "chunk_gated_delta_rule"
    module = "chunk"
    dtypes = ("bf16",)
    other_dtypes = "bf16 only: f32 is multiplied as TF32, and f16 does not hold keys behind a long decay"

    def supports(self, problem):
        return super().supports(problem) or first_reason(
            (problem.mode == "decode", "prompts and mixed steps: a decode is one token of a chunk of 64"),
            (problem.head_dim_qk % 16 != 0 or problem.head_dim_v % 16 != 0,
             "head dims that are multiples of 16 only: its products are of whole tiles"))

    def options(self, batch, torch):
        """Lists of chunks come from lengths on the host, as vLLM's metadata has them: from those on the GPU each call
        would wait for their number."""
        counts = [-(-q_len // CHUNK) for q_len in batch.q_lens]
        chunks = [(request, chunk) for request, count in enumerate(counts) for chunk in range(count)]
        return {"chunk_indices": torch.tensor(chunks, dtype=torch.int64, device="cuda")}

    def numerics(self, problem):
        # Normalised q and k, the inverse of a chunk's matrix, w, u, new values and, where O reads it, the state are kept
        # in the type of the activations; sums, decays and the state between chunks are f32.
        return {"lse": False, "accumulator": problem.dtype}


backends = [Chunk, FusedRecurrent]
