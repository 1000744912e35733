# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's dense attention kernels, as an engine without paged ones uses them: the operations behind
scaled_dot_product_attention, each by itself, and flex_attention.

    attnbench run scenarios/quickstart.yaml --plugin packs/torch --python PYTHON

torch.topk selects keys (torch_topk.py).

They read contiguous K and V. run() gathers those of each request from the cache, which is part of the time (also of
ragged keys, whose requests need not be alike), and calls the operation once for all requests of the same lengths. There are no CUDA graphs: lengths are shapes.
"""
from torch_topk import TopK, TopKCpu


class Sdpa:
    """What all of them have in common. A class below says what its operation takes."""
    requires = {"torch": "2.11.0"}
    index_format = "req_to_token"
    device = "cuda"
    formats = ["NHD", "ragged"]
    dtypes = ("f16", "bf16")
    largest_dim, dim_multiple = 256, 8
    takes_window = takes_trees = True
    takes_softcap = takes_latent = takes_spans = False
    gives_lse = True

    def load(self):
        global torch, torch_tools
        import torch
        import torch_tools

    def supports(self, problem):
        self.rooms = {}  # another case begins
        dims = (problem.head_dim_qk, problem.head_dim_v)
        if problem.family == "recurrent":
            return "no recurrent layers"
        if problem.family == "latent" and not self.takes_latent:
            return "no MLA: keys and values have one length"
        if problem.has_sinks or problem.has_alibi:
            return "no sinks, no ALiBi"
        if problem.multi_item:
            return "no multi-item scoring"
        if problem.spans and not self.takes_spans:
            return "no bidirectional spans"
        if problem.mode == "dllm_extend":
            return "no block diffusion"
        if problem.attention_chunk > 0 or problem.dual_chunk_size > 0 or problem.temperature_len > 0:
            return "no chunked attention, no dual chunks, no temperature"
        if problem.logit_cap > 0 and not self.takes_softcap:
            return "no softcap"
        if problem.dtype not in self.dtypes or problem.cache_dtype != problem.dtype:
            return f"{', '.join(self.dtypes)} only, and the cache in the same type"
        if max(dims) > self.largest_dim or any(dim % self.dim_multiple for dim in dims):
            return f"head dims up to {self.largest_dim} in steps of {self.dim_multiple} only"
        if problem.mode == "target_verify" and problem.sliding_window_size >= 0:
            return "no sliding window over a draft tree"
        if problem.sliding_window_size >= 0 and not self.takes_window:
            return "no sliding window"
        if problem.mode == "target_verify" and not problem.is_cross_attention and not self.takes_trees:
            return "no draft trees"
        return None

    def bytes_of(self, problem, q_len, kv_len):
        """The memory that a call takes for a request: its keys and values, gathered, in 16 bits, as often as they are
        copied."""
        return kv_len * problem.heads_kv * (problem.head_dim_qk + problem.head_dim_v) * 2

    def numerics(self, problem):
        """Logits and sums are f32 in all of them; weights are rounded to the type of the values."""
        return {"p": problem.dtype, "lse": self.gives_lse}

    def plan(self, batch):
        return Plan(self, batch)

    def room(self, place, rows, count):
        """Memory for so many rows, which the plans of a case share: only one of them runs at a time."""
        if place not in self.rooms or self.rooms[place].shape != (count, *rows.shape[1:]):
            self.rooms[place] = rows.new_empty(count, *rows.shape[1:])
        return self.rooms[place]

    def operation(self, group, problem, scale):
        """A function of q [size, q_len, Hq, dk], k and v [size, kv_len, Hkv, dk or dv] that returns out, like q but of
        dv, and the LSE [size, Hq, q_len], or None."""
        raise NotImplementedError


class Plan:
    def __init__(self, backend, batch):
        with torch.inference_mode():
            problem = batch.problem
            self.q, self.out, self.lse = (batch.tensor(role).torch() for role in ("q", "out", "lse"))
            self.k_rows, self.v_rows = (torch_tools.rows(batch.tensor(role)) for role in ("k_cache", "v_cache"))
            self.v_scale = batch.v_scale
            takes = lambda q_len, kv_len: backend.bytes_of(problem, q_len, kv_len)
            self.groups = torch_tools.groups_of(batch, takes) if batch.q_tokens else []
            scale = problem.scale * batch.k_scale
            self.operations = [backend.operation(group, problem, scale) for group in self.groups]
            most = max((len(group.slots) for group in self.groups), default=0)
            self.k, self.v = (backend.room(place, rows, most) for place, rows in enumerate((self.k_rows, self.v_rows)))
            torch_tools.finish(self.q)

    def gathered(self, rows, group, room):
        """The rows of a group's keys, [size, kv_len, heads, dim], copied into `room`."""
        torch.index_select(rows, 0, group.slots, out=room[:len(group.slots)])
        return room[:len(group.slots)].unflatten(0, (group.size, group.kv_len))

    def run(self, stream):
        with torch_tools.on(stream), torch.inference_mode():
            for group, operation in zip(self.groups, self.operations):
                q = self.q[group.rows].unflatten(0, (group.size, group.q_len))
                k, v = self.gathered(self.k_rows, group, self.k), self.gathered(self.v_rows, group, self.v)
                out, lse = operation(q, k, v)
                self.out[group.rows] = (out if self.v_scale == 1 else out * self.v_scale).flatten(0, 1)
                if lse is not None:
                    self.lse[group.rows] = lse.transpose(1, 2).flatten(0, 1)


def heads_first(*tensors):
    return [tensor.transpose(1, 2) for tensor in tensors]


def added(mask, problem):
    """A mask as what is added to the logits, 0 or -inf, in the type of q; None as it is."""
    if mask is None:
        return None
    dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[problem.dtype]
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, float("-inf"))


class SdpaFlash(Sdpa):
    name = "torch:sdpa_flash"
    kernel = "aten::_flash_attention_forward"
    description = "FlashAttention-2 as in torch, after a gather of K and V"
    takes_trees = False

    def supports(self, problem):
        unequal = problem.head_dim_qk != problem.head_dim_v
        return super().supports(problem) or ("keys and values of one length only" if unequal else None)

    def operation(self, group, problem, scale):
        window = -1 if group.is_dense else problem.sliding_window_size
        causal = problem.causal and not group.is_dense
        ahead = 0 if causal else window  # of a query, how many later keys it sees

        def call(q, k, v):
            return torch.ops.aten._flash_attention_forward(
                q, k, v, None, None, group.q_len, group.kv_len, 0.0, causal, False, scale=scale,
                window_size_left=window, window_size_right=ahead)[:2]
        return call


class SdpaEfficient(Sdpa):
    name = "torch:sdpa_efficient"
    kernel = "aten::_efficient_attention_forward"
    description = "xFormers' attention as in torch, after a gather of K and V and a copy of each for every query head"
    dtypes = ("f32", "f16", "bf16")
    takes_trees = takes_window = False

    def bytes_of(self, problem, q_len, kv_len):
        return super().bytes_of(problem, q_len, kv_len) * (1 + problem.heads_q // problem.heads_kv)

    def operation(self, group, problem, scale):
        lower_right = 2  # of sdp::CustomMaskType
        kind = 0 if group.is_dense else lower_right
        copies = problem.heads_q // problem.heads_kv  # the kernel has no grouped heads

        def call(q, k, v):
            k, v = (rows.repeat_interleave(copies, 2) for rows in (k, v))
            out, lse = torch.ops.aten._efficient_attention_forward(
                q, k, v, None, None, None, None, None, 0.0, kind, True, scale=scale)[:2]
            return out, lse[:, :, :group.q_len]  # its rows are padded
        return call


class SdpaCudnn(Sdpa):
    name = "torch:sdpa_cudnn"
    deterministic = False  # two runs were seen to differ
    kernel = "aten::_scaled_dot_product_cudnn_attention"
    description = "cuDNN's attention as in torch, after a gather of K and V; a mask that is not square is added"
    largest_dim = 128
    takes_spans = True

    def operation(self, group, problem, scale):
        causal = group.is_lower_right and group.q_len == group.kv_len  # its own mask begins at the top left
        mask = added(None if causal else group.mask(), problem)
        if mask is not None:
            mask = mask.expand(group.size, problem.heads_q, -1, -1)

        def call(q, k, v):
            out, lse = torch.ops.aten._scaled_dot_product_cudnn_attention(
                *heads_first(q, k, v), mask, True, 0.0, causal, False, scale=scale)[:2]
            return out.transpose(1, 2), lse.reshape(group.size, problem.heads_q, group.q_len)
        return call


class SdpaMath(Sdpa):
    name = "torch:sdpa_math"
    kernel = "aten::_scaled_dot_product_attention_math"
    description = "products and a softmax in f32, all logits in memory, after a gather of K and V; no LSE"
    dtypes = ("f32", "f16", "bf16")
    largest_dim, dim_multiple = 1024, 1
    takes_latent = takes_spans = True
    gives_lse = False

    def supports(self, problem):
        needed = self.bytes_of(problem, problem.max_q_len, problem.max_kv_len)
        too_large = f"its logits, and copies in f32, would fill {needed >> 30} GiB for one request"
        return super().supports(problem) or (too_large if needed > 2 * torch_tools.MOST_BYTES else None)

    def bytes_of(self, problem, q_len, kv_len):
        """Keys and values of every query head in f32, once more as they are scaled, and three copies of the logits."""
        return kv_len * problem.heads_q * (8 * (problem.head_dim_qk + problem.head_dim_v) + 12 * q_len)

    def numerics(self, problem):
        return {"lse": False}  # and f32 throughout

    def operation(self, group, problem, scale):
        mask = added(group.mask(), problem)  # a bool would be added, too

        def call(q, k, v):
            out, _ = torch.ops.aten._scaled_dot_product_attention_math(
                *heads_first(q, k, v), mask, 0.0, False, None, scale=scale,
                enable_gqa=problem.heads_q != problem.heads_kv)
            return out.transpose(1, 2), None
        return call


class SdpaMathCpu(SdpaMath):
    name, device = "torch:sdpa_math_cpu", "cpu"


class SdpaFlashCpu(Sdpa):
    name, device = "torch:sdpa_flash_cpu", "cpu"
    kernel = "aten::_scaled_dot_product_flash_attention_for_cpu"
    description = "torch's blocked attention for processors, after a gather of K and V"
    dtypes = ("f32", "f16", "bf16")
    largest_dim, dim_multiple = 1024, 1
    takes_spans = True
    gives_lse = False  # it does, but its exponential is good to 20 units of f32's last place with AVX-512, not to 1

    def operation(self, group, problem, scale):
        causal = group.is_lower_right and group.q_len == group.kv_len  # its own mask begins at the top left
        mask = added(None if causal else group.mask(), problem)

        def call(q, k, v):
            out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
                *heads_first(q, k, v), 0.0, causal, attn_mask=mask, scale=scale)
            return out.transpose(1, 2), lse
        return call


class Flex(Sdpa):
    name = "torch:flex"
    kernel = "torch.nn.attention.flex_attention"
    description = "flex_attention compiled with the case's mask and softcap, after a gather of K and V"
    takes_softcap = takes_spans = True

    def load(self):
        super().load()
        import torch._dynamo
        torch._dynamo.config.recompile_limit = 64  # one for each mask, and not for each length

    def operation(self, group, problem, scale):
        from torch.nn.attention.flex_attention import AuxRequest, create_block_mask, flex_attention
        attend = torch.compile(flex_attention)  # by the first run, when results are checked and nothing is timed yet
        wanted = AuxRequest(lse=True) if self.gives_lse else None
        blocks, cap = None, problem.logit_cap
        if not group.is_dense:
            blocks = create_block_mask(group.mask_mod(), group.size, None, group.q_len, group.kv_len,
                                       device=group.slots.device)

        def softcap(score, request, head, query, key):
            return cap * torch.tanh(score / cap)

        def call(q, k, v):
            found = attend(*heads_first(q, k, v), softcap if cap > 0 else None, blocks, scale,
                           problem.heads_q != problem.heads_kv, return_aux=wanted)
            out, lse = (found[0], found[1].lse) if wanted else (found, None)
            return out.transpose(1, 2), lse
        return call


class FlexCpu(Flex):
    name, device = "torch:flex_cpu", "cpu"
    dtypes = ("f32", "f16", "bf16")
    largest_dim, dim_multiple = 1024, 1
    gives_lse = False  # not when it is compiled for a processor
    takes_spans = False  # PyTorch 2.11 generates C++ of their mask that does not compile


backends = [SdpaFlash, SdpaEfficient, SdpaCudnn, SdpaMath, SdpaMathCpu, SdpaFlashCpu, Flex, FlexCpu, TopK, TopKCpu]
