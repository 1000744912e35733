# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""What the packs of engine kernels share. torch is imported where it is needed: a pack is listed without it."""
import copy
import dataclasses
import itertools
import math

FP8 = ("e4m3", "e5m2")


def first_reason(*checks):
    """Of pairs (does it hold, why that is refused), the first reason that holds; None when none does."""
    return next((reason for holds, reason in checks if holds), None)


def step_of(problem):
    """The mode in which a kernel with causal masks alone takes the step: drafts that form chains are an extend."""
    return "extend" if problem.mode == "target_verify" and problem.drafts_are_chains else problem.mode


def no_chunks(problem):
    """Why the step of a chunked layer is none for virtual_requests(); None when it is, or the layer has no chunks."""
    chunk, page_size = problem.attention_chunk, problem.page_size
    return None if chunk == 0 else first_reason(
        (problem.cache_layout == "ragged", "no chunks of ragged keys: its virtual requests are rows of a page table"),
        (chunk % page_size != 0, f"a chunk of {chunk} tokens is no whole number of pages of {page_size}: a virtual"
         " request's row of the page table begins with a page"),
        ("request" in (problem.cache_scales, problem.q_scales), "no scales per request: a virtual one has none"),
        (problem.empty_rows, "no chunks of requests with fewer keys than queries"))


def no_paged_attention(problem, dtypes=("f16", "bf16"), trees=False, sinks=False, chunks=False, temperature=False,
                       window_ahead=False, spans=False, alibi=False, items=False):
    """Why a kernel of softmax attention over keys and values of their own cannot take the problem, whatever its window
    and its shapes; None when it can. What has to hold besides, its own pack adds. `chunks`: its plan takes the batches
    of virtual_requests(). `spans`: its plan hands over those of prompts. `window_ahead`: its windows have a right edge as
    well, which those of layers without causality need."""
    return first_reason(
        (problem.step != "attention", "attention only: it writes no cache"),
        (problem.family != "softmax", "keys and values of their own only: no MLA, no recurrent layers"),
        (problem.has_alibi and not alibi, "no ALiBi"),
        (problem.has_sinks and not sinks, "no sinks"),
        (problem.multi_item and not items, "no multi-item scoring: the pack gives it no items"),
        (problem.spans and not spans, "no bidirectional spans: it knows no masks but causal ones"),
        (problem.mode == "dllm_extend", "no block diffusion: it knows no masks but causal ones"),
        (problem.temperature_len > 0 and not temperature, "no temperature of positions"),
        (problem.dual_chunk_size > 0, "no dual chunks: the pack gives it one form of each query"),
        (problem.attention_chunk > 0 and not chunks, "no chunked attention: no engine gives it virtual requests"),
        (problem.attention_chunk > 0 and no_chunks(problem), no_chunks(problem)),
        (step_of(problem) == "target_verify" and not (trees and problem.attention_chunk == 0),
         "no draft trees that branch: it knows no masks but causal ones"),
        (problem.dtype not in dtypes, f"queries in {' or '.join(dtypes)} only"),
        (not problem.causal and not problem.is_cross_attention and problem.sliding_window_size >= 0 and not window_ahead,
         "windows of causal layers only: its own have a left edge alone"))


def no_latent_attention(problem, no_fp8="f16 or bf16 throughout"):
    """The same for a kernel of absorbed MLA over DeepSeek's latent rows. `no_fp8`: why it takes no cache in e4m3; None
    where it takes one, with one scale."""
    fp8 = problem.cache_dtype == "e4m3"
    return first_reason(
        (problem.step != "attention", "attention only: it writes no cache"),
        (problem.family != "latent", "absorbed MLA only"),
        ((problem.head_dim_qk, problem.head_dim_v) != (576, 512), "latent rows of 576 numbers, 512 of them values"),
        (problem.dtype not in ("f16", "bf16"), "f16 and bf16 only"),
        (fp8 and no_fp8, no_fp8),
        (not fp8 and problem.cache_dtype != problem.dtype, "a cache of the queries' type, or e4m3"),
        (problem.cache_scales != "tensor", "one scale for all latent rows only"),
        (problem.mode == "dllm_extend", "no block diffusion"),
        (problem.multi_item, "no multi-item scoring: the pack gives it no items"),
        (problem.spans, "no bidirectional spans: it knows no masks but causal ones"),
        (step_of(problem) == "target_verify", "no draft trees that branch: it knows no masks but causal ones"),
        (problem.attention_chunk > 0 or problem.temperature_len > 0, "no chunks, no temperature of positions"),
        (problem.sliding_window_size >= 0 or problem.logit_cap > 0, "no window, no softcap"),
        (problem.has_sinks or problem.has_alibi, "no sinks, no ALiBi"))


def with_lse_variants(*backends):
    """The backends, and of each a variant that hands over its LSE, in attnbench's layout and base. Bringing it there is
    one more launch, which an engine's plain layer has no need of: the variants check it, the backends are timed."""
    return [*backends, *(type(f"{backend.__name__}WithLse", (backend,), {
        "name": f"{backend.name}:lse", "description": f"{backend.description}; with its LSE", "with_lse": True,
        "only_by_name": True, "tuning": {}}) for backend in backends)]


def window_of(problem):
    """FlashAttention's window_size: how many keys before and behind its own place a query may see, -1: all. Without
    causality as many behind as before, as vLLM has it in layers that encode; beside causality 0, or -1 without a window."""
    window = -1 if problem.is_cross_attention else problem.sliding_window_size
    return window, min(window, 0) if problem.causal else window


def alibi_slopes(problem):
    """ALiBi's slopes of the query heads: those of the first rank, where the model's heads are divided."""
    power = 1 << (problem.heads_q * problem.ranks).bit_length() - 1
    return [2 ** (-8 * ((head + 1 if head < power else head - power + 0.5) / power)) for head in range(problem.heads_q)]


def with_values(problem, **values):
    """A copy of the problem with other values."""
    changed = copy.copy(problem)
    vars(changed).update(values)
    return changed


def reserved(batch, *parts):
    """Tensors of these shapes and types of torch in the plan's workspace, which results count. Asked for once, in
    bind(); they have no contents."""
    sizes = [math.prod(shape) * dtype.itemsize for shape, dtype in parts]
    ends = list(itertools.accumulate(-(-size // 256) * 256 for size in sizes))  # each aligned as the whole is
    whole = dataclasses.replace(batch.tensor("out"), address=batch.reserve(max(ends[-1], 1)), dtype="u8",
                                shape=(ends[-1],), strides=(1,)).torch()
    return [whole[start:start + size].view(dtype).view(shape)
            for start, size, (shape, dtype) in zip([0, *ends], sizes, parts)]


def request_rows(batch, role):
    """A tensor of query tokens for torch, None where there is none, without the rows behind those of all requests, which
    fill a step up and belong to none: kernels take the number of tokens, or of requests, from its shape. vLLM cuts
    them off as well, at num_actual_tokens."""
    tensor = batch.tensor(role)
    return tensor and tensor.torch()[:sum(batch.q_lens)]


def shared_pages(batch, starts, pages):
    """How many pages all requests begin with; none of the step's own keys lies in them. starts, pages: csr's, on the
    host."""
    import numpy
    least = min(kv - q for q, kv in zip(batch.q_lens, batch.kv_lens)) // batch.problem.page_size
    first = pages[starts[0]:starts[0] + least]
    for start in starts[1:-1]:
        same = numpy.flatnonzero(pages[start:start + len(first)] != first)
        first = first[:same[0]] if len(same) else first
    return len(first)


class HostArray:
    """An array of NumPy in the place of a tensor of a batch."""

    def __init__(self, values):
        self.values = values

    def numpy(self):
        return self.values

    def torch(self):
        import torch
        return torch.from_numpy(self.values).cuda()


class VirtualRequests:
    """The step of a chunked layer as vLLM and SGLang give it to kernels without chunks: each chunk that holds queries
    of a request is a request of its own, causal over the chunk's keys. It stands in for the batch, whose tensors it
    has, and knows the index formats that the plans of such kernels ask for."""

    def __init__(self, whole):
        problem, self.whole = whole.problem, whole
        chunk = problem.attention_chunk
        # Copies: the format's arrays in host memory end when it is asked for again.
        here = whole.indices("local_attention", host=True)
        self.here = {name: array.numpy().copy() for name, array in here.items()}
        self.starts, lens = self.here["local_query_start_loc"], self.here["local_seqused_k"]
        self.q_lens, self.kv_lens = (self.starts[1:] - self.starts[:-1]).tolist(), lens.tolist()
        self.batch_size, self.q_tokens = len(self.kv_lens), whole.q_tokens
        self.k_scale, self.v_scale, self.q_scale, self.out_scale = (
            whole.k_scale, whole.v_scale, whole.q_scale, whole.out_scale)
        self.tensor, self.reserve = whole.tensor, whole.reserve
        self.problem = with_values(
            problem, attention_chunk=0, mode="decode" if problem.mode == "decode" else "extend",
            max_requests=self.batch_size, max_q_len=min(problem.max_q_len, chunk),
            max_kv_len=min(problem.max_kv_len, chunk))

    def indices(self, format, host=False):
        """Of "page_table", "varlen" and "csr", which the whole batch has under other names, or for other requests."""
        if format == "csr":
            return {name: HostArray(array) for name, array in self.csr().items()}
        local = self.whole.indices("local_attention", host=host)
        return {"page_table": {"page_table": local["local_block_table"], "cache_seqlens": local["local_seqused_k"]},
                "varlen": {"cu_seqlens_q": local["local_query_start_loc"]}}[format]

    def csr(self):
        import numpy
        lens, page_size = self.here["local_seqused_k"], self.problem.page_size
        pages = -(-lens // page_size)
        rows = self.here["local_block_table"]
        starts = numpy.concatenate([[0], numpy.cumsum(pages)]).astype(numpy.int32)
        return {"qo_indptr": self.starts, "kv_indptr": starts,
                "kv_indices": rows[numpy.arange(rows.shape[1]) < pages[:, None]],
                "kv_last_page_len": numpy.where(lens > 0, lens - (pages - 1) * page_size, 1).astype(numpy.int32)}


def with_virtual_requests(batch):
    """The batch itself, or of a chunked layer its virtual requests."""
    return VirtualRequests(batch) if batch.problem.attention_chunk > 0 else batch


class Plan:
    """The plan of a kernel that torch launches. A subclass says what it reads and launches:

    prepare(batch)  asks for index arrays and schedules the work: in plan(), and again in every update()
    launch()        the kernels of one forward
    """
    follows = True  # whether update() brings a recorded plan to the next step
    out_scale = 1  # what the kernel leaves to be multiplied
    joins_queries = True  # the kernel takes queries as one tensor, into which each run copies those that come apart

    def __init__(self, batch, *given):
        import torch
        import torch_tools
        self.torch, self.on, self.problem = torch, torch_tools.on, batch.problem
        # How many virtual requests a request is, only a decode's is the same in all steps of a recorded plan.
        varies = self.problem.attention_chunk > 0 and self.problem.recorded and self.problem.mode != "decode"
        self.idle = varies or batch.q_tokens == 0
        if self.idle:
            self.follows = False
            return
        batch = with_virtual_requests(batch)
        self.problem = batch.problem
        cross = batch.problem.is_cross_attention  # whose queries see all keys
        self.causal = batch.problem.causal and not cross
        self.window, self.window_ahead = window_of(batch.problem)
        self.q, self.out, self.lse = (request_rows(batch, role) for role in ("q", "out", "lse"))
        self.k_cache, self.v_cache, self.sinks = (
            tensor and tensor.torch() for tensor in map(batch.tensor, ("k_cache", "v_cache", "sinks")))
        self.queries_apart = None
        if batch.problem.queries_apart:
            self.queries_apart = tuple(request_rows(batch, role) for role in ("q_nope", "q_pe"))
            if self.joins_queries:
                shape = (*self.out.shape[:2], batch.problem.head_dim_qk)
                self.q = self.joined = torch.empty(shape, dtype=self.queries_apart[0].dtype, device=self.out.device)
        self.bind(batch, *given)
        self.prepare(batch)
        torch_tools.finish(self.out)

    def bind(self, batch):
        """What stays the same in all steps of a recorded plan."""

    def query_parts(self):
        """Of latent attention the queries' latent and their rope columns, as they come or as views of one tensor."""
        latent = self.problem.head_dim_v
        return self.queries_apart or (self.q[..., :latent], self.q[..., latent:])

    def logit_scale(self, batch):
        """The scale of q.k for a kernel that is told of k_scale and v_scale only where the cache is in fp8: for others
        k_scale joins it, and v_scale is multiplied in the end."""
        if self.problem.cache_dtype in FP8:
            return self.problem.scale
        self.out_scale = batch.v_scale
        return self.problem.scale * batch.k_scale

    def prepare(self, batch):
        raise NotImplementedError

    def launch(self):
        raise NotImplementedError

    def run(self, stream):
        if not self.idle:
            with self.on(stream):
                if self.queries_apart and self.joins_queries:
                    self.torch.cat(self.queries_apart, dim=-1, out=self.joined)
                self.launch()
                if self.out_scale != 1:
                    self.out.mul_(self.out_scale)

    def update(self, batch, stream):
        if self.idle or not self.follows:
            return False
        with self.on(stream):
            self.prepare(with_virtual_requests(batch))
        return True

    def longest(self, batch):
        """The most queries and the most keys of one request: of any step that a recorded plan may be brought to."""
        if self.problem.recorded:
            return self.problem.max_q_len, self.problem.max_kv_len
        return max(batch.q_lens), max(batch.kv_lens)
