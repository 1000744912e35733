# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""vLLM's delta rules, imported without starting vLLM."""
from engine_tools import first_reason
from gated_delta_net import (DeltaNetPlan, GatheredStates, chunked_numerics, chunks_of, layouts_of_states, no_chunks,
                             no_delta_net)
from vllm_wheel import WITH_TRITON, import_from, linear_attention


class DeltaNet:
    """Of delta nets, whose states vLLM keeps value dims first."""
    family = "recurrent"
    requires = WITH_TRITON
    index_format = "state_indices, cu_seqlens"
    device = "cuda"

    def formats(self, problem):
        return layouts_of_states(problem, "states_vk")

    def load(self):
        (functions,) = self.calls
        self.module = import_from(functions)


class DeltaNetDecode(DeltaNet):
    name = "vllm:fused_recurrent_gdn"
    description = "vLLM's gated delta rule token by token, on the pool of states itself; decodes"
    kernel = "fused_recurrent_gated_delta_rule_fwd_kernel"
    calls = {linear_attention("fused_recurrent"): kernel}
    graph_support = "UNIFORM_SINGLE_TOKEN_DECODE"
    padding_seq_len = 0
    value_dims = 32  # of a block at most, and its grid as in fused_recurrent_gated_delta_rule_fwd

    def supports(self, problem):
        # With more tokens it wants a place for the state behind each of them, which is what drafts have.
        return no_delta_net(problem, ("f32", "f16", "bf16"), self.family) or first_reason(
            (problem.mode != "decode" or problem.max_q_len > 1, "decodes of one token only"))

    def numerics(self, problem):
        return {"lse": False}  # f32 throughout: q, k and v are widened where they are read, only O is rounded

    def plan(self, batch):
        return DeltaNetDecodePlan(batch, self)


class DeltaNetVerify(DeltaNetDecode):
    name = "vllm:fused_recurrent_gdn_verify"
    description = "the same for drafts: the state behind each token is written one behind the other, not to the pool"
    graph_support = "UNIFORM_BATCH"
    padding_seq_len = 1  # so that padding's is no request that begins here

    def supports(self, problem):
        return no_delta_net(problem, ("f32", "f16", "bf16"), self.family) or first_reason(
            (problem.mode != "target_verify", "drafts only"),
            (not problem.drafts_are_chains, "no draft trees that branch: its state goes on from the token before"))

    def plan(self, batch):
        return DeltaNetVerifyPlan(batch, self)


class KimiDeltaDecode(DeltaNetDecode):
    name = "vllm:fused_recurrent_kda"
    description = "the same with a decay for each key dim; decodes"
    family = "kimi_delta"
    value_dims = 8  # as in fused_recurrent_kda_fwd


class KimiDeltaVerify(DeltaNetVerify):
    name = "vllm:fused_recurrent_kda_verify"
    description = "the same with a decay for each key dim; drafts"
    family = "kimi_delta"
    value_dims = KimiDeltaDecode.value_dims


class DeltaNetDecodePlan(DeltaNetPlan):
    def left(self, batch):
        """Where states are written: by slot, or, elsewhere than in the pool, by token."""
        return self.states

    def bind(self, batch, backend):
        super().bind(batch, backend)
        problem, torch = self.problem, self.torch
        requests, heads, dim_k, dim_v = batch.batch_size, problem.heads_kv, problem.head_dim_qk, problem.head_dim_v
        block_k, block_v = (1 << (dim - 1).bit_length() for dim in (dim_k, dim_v))
        block_v = min(block_v, backend.value_dims)
        self.slots = torch.empty(requests, dtype=torch.int32, device="cuda")
        if bool((batch.tensor("state_indices").torch() == 0).any()):
            raise ValueError("a request's state lies in slot 0, which vLLM's kernel takes for no slot")
        q_len, left = problem.max_q_len, self.left(batch)
        grid = 1, -(-dim_v // block_v), requests * heads
        self.kernel = getattr(backend.module, backend.kernel)[grid]
        self.options = {
            "q": self.q, "k": self.k, "v": self.v, "g": self.g, "beta": self.beta, "o": self.out, "h0": self.states,
            "ht": left, "cu_seqlens": torch.arange(requests + 1, dtype=torch.int32, device="cuda") * q_len,
            "ssm_state_indices": self.slots, "num_accepted_tokens": None, "scale": problem.scale, "N": requests,
            "T": requests * q_len, "B": 1, "H": problem.heads_q, "HV": heads, "K": dim_k, "V": dim_v, "BK": block_k,
            "BV": block_v, "stride_init_state_token": self.states.stride(0),
            "stride_final_state_token": left.stride(0), "stride_indices_seq": 1, "stride_indices_tok": 1,
            "INPLACE_FINAL_STATE": left is self.states, "IS_BETA_HEADWISE": False, "USE_QK_L2NORM_IN_KERNEL": True,
            "IS_KDA": backend.family == "kimi_delta", "num_warps": 1, "num_stages": 3}

    def prepare(self, batch):
        self.slots.copy_(batch.tensor("state_indices").torch())
        # Requests that begin here: in vLLM a prompt has left a state before any decode. Padding has no slot.
        first = self.beginning(batch)
        self.fresh = self.slots[first].long() if first else ()
        if first:
            self.fresh = self.fresh[self.fresh >= 0]

    @staticmethod
    def beginning(batch):
        return [request for request, lengths in enumerate(zip(batch.q_lens, batch.kv_lens)) if lengths[0] == lengths[1]]

    def update(self, batch, stream):
        return not self.beginning(batch) and super().update(batch, stream)

    def launch(self):
        if len(self.fresh) > 0:
            self.states.index_fill_(0, self.fresh, 0)
        self.kernel(**self.options)


class DeltaNetVerifyPlan(DeltaNetDecodePlan):
    """The pool stays as it is: where a request begins with nothing, the states are read from a copy."""

    def left(self, batch):
        return batch.tensor("intermediate_states").torch().transpose(-1, -2)

    def launch(self):
        options = self.options
        if len(self.fresh) > 0:
            states = self.states.clone()
            states.index_fill_(0, self.fresh, 0)
            options = {**options, "h0": states}
        self.kernel(**options)


class DeltaNetChunks(DeltaNet):
    name = "vllm:chunk_gdn"
    description = "vLLM's gated delta rule in chunks of 64 tokens, with its gather and scatter of the states"
    kernel = "chunk_gated_delta_rule"
    calls = {linear_attention("chunk"): kernel}
    graph_support = "NEVER"
    returns_out = False

    def supports(self, problem):
        return no_chunks(problem, self.family)

    def numerics(self, problem):
        return chunked_numerics(problem)

    def plan(self, batch):
        self.rule = self.module.chunk_gated_delta_rule
        return GatheredStates(batch, self)

    def options(self, batch, plan):
        torch, (chunks, before) = plan.torch, chunks_of(plan.q_lens)
        lists = {"chunk_indices": chunks, "chunk_offsets": before}
        return {"core_attn_out": plan.out.view(-1), **{
            name: torch.tensor(values, dtype=torch.int64, device="cuda") for name, values in lists.items()}}
