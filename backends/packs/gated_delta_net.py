# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""What packs with kernels of recurrent layers share."""
from engine_tools import Plan, first_reason, request_rows

FAMILIES = {"recurrent": "gated delta nets", "kimi_delta": "Kimi delta attention", "lightning": "lightning attention"}
CHUNK = 64  # tokens that a chunked kernel takes at a time, in flash-linear-attention as in what vLLM made of it


def no_delta_net(problem, dtypes, family):
    """Why a kernel of a family's rule cannot take the problem; None when it can. What has to hold besides, its own
    pack adds."""
    return first_reason(
        (problem.family not in FAMILIES, "recurrent layers only: it keeps a state instead of keys and values"),
        (problem.family != family, f"{FAMILIES[family]} only"),
        (problem.step != "attention", "attention only: it writes no cache"),
        (problem.dtype not in dtypes, f"activations in {' or '.join(dtypes)} only"),
        (problem.head_dim_qk > 256, "key dims up to 256 only"))


def layouts_of_states(problem, order):
    """States in that order. A layer with keys is refused however they lie, so that the refusal is that of the layer."""
    return [order if problem.family in FAMILIES else problem.cache_layout]


def no_drafts(problem):
    """The same for a function that returns one state a request."""
    return first_reason((problem.mode == "target_verify",
                         "no drafts: it returns the state behind the last token, a draft needs the one behind each"))


def no_chunks(problem, family):
    """The same for a chunked one. What it computes of a chunk is kept in the type of the activations: f32 would be
    multiplied as TF32, and f16 does not hold keys behind a long decay."""
    return no_delta_net(problem, ("bf16",), family) or no_drafts(problem) or first_reason(
        (problem.mode == "decode", "prompts and mixed steps: a decode is one token of a chunk of 64"),
        (problem.head_dim_qk % 16 != 0 or problem.head_dim_v % 16 != 0,
         "head dims that are multiples of 16 only: its products are of whole tiles"))


def chunked_numerics(problem):
    """Normalised q and k, the inverse of a chunk's matrix, w, u, new values and, where O reads it, the state are kept
    in the type of the activations; sums, decays and the state between chunks are f32."""
    return {"lse": False, "accumulator": problem.dtype}


def chunks_of(q_lens):
    """Of each chunk its request and its number there, and of each request how many chunks precede it. From lengths on
    the host, as vLLM's metadata has them: from those on the GPU each call would wait for their number."""
    counts = [-(-q_len // CHUNK) for q_len in q_lens]
    chunks = [(request, chunk) for request, count in enumerate(counts) for chunk in range(count)]
    return chunks, [sum(counts[:request]) for request in range(len(counts) + 1)]


class DeltaNetPlan(Plan):
    """Its states are as the kernel has them: [slots, value heads, key dim, value dim], or value dims first."""

    def bind(self, batch, backend):
        self.k, self.v, self.g, self.beta = (
            request_rows(batch, role) for role in ("k_new", "v_new", "g", "beta"))
        states = batch.tensor("states").torch()
        self.states = states.transpose(-1, -2) if self.problem.cache_layout == "states_vk" else states
        self.backend = backend


class GatheredStates(DeltaNetPlan):
    """For a rule that takes the states of a batch one behind the other, and returns new ones. The backend says what
    else it takes, options(batch, plan), and whether it `returns_out` instead of writing O where it belongs."""
    follows = False

    def prepare(self, batch):
        slots, kept, starts = (
            batch.tensor(role).torch() for role in ("state_indices", "has_initial_state", "query_start_loc"))
        # Padding comes last and has no slot: what it would leave is nobody's.
        count = int((slots >= 0).sum())
        self.q_lens = batch.q_lens[:count]
        slots, kept, starts = slots[:count], kept[:count], starts[:count + 1]
        self.slots = slots.long()
        self.fresh = self.torch.nonzero(kept == 0).flatten()  # requests whose slots hold nothing of theirs
        self.all_fresh = len(self.fresh) == count
        self.options = {"cu_seqlens": starts.long(), **self.backend.options(batch, self)}

    def initial_states(self):
        """None where all requests begin with nothing."""
        if self.all_fresh:
            return None
        states = self.states.index_select(0, self.slots)
        if len(self.fresh) > 0:
            states.index_fill_(0, self.fresh, 0)
        return states

    def gates(self):
        if self.problem.family == "lightning":  # the same for all tokens
            return {"g_gamma": self.g[0]}
        return {"g": self.g.unsqueeze(0), "beta": self.beta.unsqueeze(0), "use_qk_l2norm_in_kernel": True}

    def launch(self):
        # One sequence, which cu_seqlens cuts.
        q, k, v = (tensor.unsqueeze(0) for tensor in (self.q, self.k, self.v))
        with self.torch.no_grad():
            out, states = self.backend.rule(
                q, k, v, scale=self.problem.scale, initial_state=self.initial_states(), output_final_state=True,
                **self.gates(), **self.options)
            if self.backend.returns_out:
                self.out.copy_(out[0])
            self.states.index_copy_(0, self.slots, states)
