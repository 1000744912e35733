# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Linear layers of flash-linear-attention: the chunked rule for prompts, the recurrent one for everything.

Its functions take the states of a batch one behind the other and return new ones. The gather out of the pool, zeros for
requests that begin with nothing, the scatter back and the copy of O, which is returned as well, are part of the time:
an engine with a pool of states has all of them to do around these functions.
"""
import importlib.metadata
import os

from engine_packages import Functions, import_bare
from engine_tools import first_reason
from gated_delta_net import (GatheredStates, chunked_numerics, chunks_of, layouts_of_states, no_chunks, no_delta_net,
                             no_drafts)

BARE = ["fla", "fla.ops", "fla.ops.gated_delta_rule", "fla.ops.kda", "fla.ops.simple_gla", "fla.modules", "fla.modules.norm"]


class DeltaRule:
    family = "recurrent"
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
        return no_delta_net(problem, ("f32", "f16", "bf16"), self.family) or no_drafts(problem)

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
        return no_chunks(problem, self.family)

    def numerics(self, problem):
        return chunked_numerics(problem)

    def options(self, batch, plan):
        chunks, _ = chunks_of(plan.q_lens)
        return {"chunk_indices": plan.torch.tensor(chunks, dtype=plan.torch.int64, device="cuda")}


class FusedRecurrentKda(FusedRecurrent):
    name = "fla:fused_recurrent_kda"
    family = "kimi_delta"
    kernel = "fused_recurrent_kda"
    calls = {Functions(("fla.ops.kda.fused_recurrent",)): kernel}


class ChunkKda(Chunk):
    name = "fla:chunk_kda"
    family = "kimi_delta"
    kernel = "chunk_kda"
    calls = {Functions(("fla.ops.kda.chunk",)): kernel}

    def options(self, batch, plan):
        return {}  # it counts the chunks itself, once for each cu_seqlens


def no_groups(problem):
    return first_reason((problem.heads_q != problem.heads_kv, "as many value heads as key heads only"))


class FusedRecurrentLightning(FusedRecurrent):
    name = "fla:fused_recurrent_simple_gla"
    family = "lightning"
    kernel = "fused_recurrent_simple_gla"
    calls = {Functions(("fla.ops.simple_gla.fused_recurrent",)): kernel}

    def supports(self, problem):
        return super().supports(problem) or no_groups(problem)


class ChunkLightning(Chunk):
    name = "fla:chunk_simple_gla"
    family = "lightning"
    kernel = "chunk_simple_gla"
    calls = {Functions(("fla.ops.simple_gla.chunk",)): kernel}

    def supports(self, problem):
        return super().supports(problem) or no_groups(problem)

    def options(self, batch, plan):
        return {}  # as of chunk_kda


backends = [Chunk, FusedRecurrent, ChunkKda, FusedRecurrentKda, ChunkLightning, FusedRecurrentLightning]
