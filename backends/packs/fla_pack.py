# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Gated delta nets of flash-linear-attention: the chunked rule for prompts, the recurrent one for everything.

Its functions take the states of a batch one behind the other and return new ones. The gather out of the pool, zeros for
requests that begin with nothing, the scatter back and the copy of O, which is returned as well, are part of the time:
an engine with a pool of states has all of them to do around these functions.
"""
import importlib.metadata
import os

from engine_packages import Functions, import_bare
from gated_delta_net import (GatheredStates, chunked_numerics, chunks_of, layouts_of_states, no_chunks, no_delta_net,
                             no_drafts)

BARE = ["fla", "fla.ops", "fla.ops.gated_delta_rule", "fla.modules", "fla.modules.norm"]


class DeltaRule:
    requires = {"fla-core": "0.6.0", "torch": "2.11.0..2.14.1", "triton": "3.6.0..3.8.0"}
    index_format = "state_indices, cu_seqlens"
    device = "cuda"
    graph_support = "NEVER"  # it returns memory of its own
    returns_out = True

    def load(self):
        # Arrays that follow from cu_seqlens are kept for a few of them: for as many as there are placements, so that a
        # timed forward finds them, as all layers of a step but the first do.
        os.environ.setdefault("FLA_TENSOR_CACHE_SIZE", "64")
        version = {"__version__": importlib.metadata.version("fla-core")}
        (functions,) = self.calls
        module = import_bare(functions.name(), BARE, {"fla": version})
        self.rule = getattr(module, self.kernel)

    def formats(self, problem):
        return layouts_of_states(problem, "states_kv")

    def plan(self, batch):
        return GatheredStates(batch, self)


class FusedRecurrent(DeltaRule):
    name = "fla:fused_recurrent_gated_delta_rule"
    description = "flash-linear-attention's kernel token by token; gather and scatter of the states included"
    kernel = "fused_recurrent_gated_delta_rule"
    calls = {Functions(("fla.ops.gated_delta_rule.fused_recurrent",)): kernel}

    def supports(self, problem):
        return no_delta_net(problem, ("f32", "f16", "bf16")) or no_drafts(problem)

    def numerics(self, problem):
        return {"lse": False}  # f32 throughout: q, k and v are widened where they are read, only O is rounded

    def options(self, batch, plan):
        return {}


class Chunk(DeltaRule):
    name = "fla:chunk_gated_delta_rule"
    description = "flash-linear-attention's kernels in chunks of 64 tokens; gather and scatter of the states included"
    kernel = "chunk_gated_delta_rule"
    calls = {Functions(("fla.ops.gated_delta_rule.chunk",)): kernel}

    def supports(self, problem):
        return no_chunks(problem)

    def numerics(self, problem):
        return chunked_numerics(problem)

    def options(self, batch, plan):
        chunks, _ = chunks_of(plan.q_lens)
        return {"chunk_indices": plan.torch.tensor(chunks, dtype=plan.torch.int64, device="cuda")}


backends = [Chunk, FusedRecurrent]
