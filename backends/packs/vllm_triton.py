# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""vLLM's attention in Triton, imported without starting vLLM."""
from engine_tools import Plan, alibi_slopes, first_reason, no_latent_attention, no_paged_attention, reserved
from vllm_wheel import MLA_DECODE, UNIFIED, WITH_TRITON, import_from


class TritonMla:
    name = "vllm:triton_mla"
    description = "vLLM's Triton decode for absorbed MLA, which vLLM names TRITON_MLA"
    requires = WITH_TRITON
    kernel = "decode_attention_fwd"
    calls = {MLA_DECODE: "decode_attention_fwd"}
    index_format = "block_table, seq_lens"
    device = "cuda"
    graph_support = "UNIFORM_SINGLE_TOKEN_DECODE"
    reads_queries_apart = True
    formats = ["NHD"]  # a row's place is its page's number times the page size, and its own in the page

    def load(self):
        self.attend = import_from(MLA_DECODE).decode_attention_fwd

    def supports(self, problem):
        return no_latent_attention(problem, no_fp8=None) or first_reason(
            (problem.mode != "decode" or problem.max_q_len > 1, "decodes of one token only"),
            (problem.empty_rows, "no requests without keys: it divides by their sum of weights"))

    def numerics(self, problem):
        return {"qk_input": problem.dtype, "p": problem.dtype}  # rows in fp8 are widened to the queries' type

    def plan(self, batch):
        return TritonMlaPlan(batch, self.attend)


class TritonMlaPlan(Plan):
    LEAST_KEYS = 512  # of a split; with the most splits from v1/attention/backends/mla/triton_mla.py

    def bind(self, batch, attend):
        torch, problem = self.torch, self.problem
        most = 2 * torch.cuda.get_device_properties().multi_processor_count
        splits = min(1 << (max(1, self.longest(batch)[1] // self.LEAST_KEYS) - 1).bit_length(), most)
        # Behind each partial result lies its LSE.
        shape = (batch.batch_size, problem.heads_q, splits, problem.head_dim_v + 1)
        (partial,) = reserved(batch, (shape, torch.float32))
        scale = torch.tensor(batch.k_scale if problem.cache_dtype == "e4m3" else 1.0, device="cuda")
        table = {name: array.torch() for name, array in batch.indices("page_table").items()}
        self.attend = attend
        self.arguments = (self.q, self.k_cache, self.k_cache[..., :problem.head_dim_v], self.out, self.lse,
                          table["page_table"], table["cache_seqlens"], partial, splits, self.logit_scale(batch),
                          problem.page_size)
        self.options = {"k_scale": scale, "v_scale": scale, "is_mla": True}

    def prepare(self, batch):
        batch.indices("page_table")  # where it was

    def launch(self):
        self.attend(*self.arguments, **self.options)


class TritonUnified:
    name = "vllm:triton_unified"
    description = "vLLM's Triton attention: one kernel for prompts and decodes, with segments for small batches"
    requires = WITH_TRITON
    kernel = "unified_attention"
    calls = {UNIFIED: "unified_attention"}
    index_format = "block_table, cu_seqlens_q, seqused_k"
    device = "cuda"
    graph_support = "ALWAYS"
    padding_seq_len = 0
    reads_page_gaps = True
    writes_fp8_outputs = True

    def load(self):
        self.attend = import_from(UNIFIED).unified_attention

    def supports(self, problem):
        fp8 = problem.cache_dtype == "e4m3"
        return no_paged_attention(problem, sinks=True, chunks=True, spans=True, alibi=True) or first_reason(
            (problem.spans and problem.sliding_window_size >= 0,
             "no spans under a window: it takes values of a span's keys before its tile's window for 0"),
            (not problem.causal or problem.is_cross_attention, "causal self-attention only"),
            (problem.cache_dtype != problem.dtype and not fp8, "a cache of the queries' type, or e4m3"),
            (problem.cache_scales != "tensor", "scales of a whole tensor only"),
            (problem.out_dtype == "e5m2", "outputs in fp8 as e4m3 only: it saturates at that type's largest number"),
            (problem.head_dim_qk != problem.head_dim_v, "keys and values of one head dim"),
            (problem.page_size % 16 != 0, f"pages of 16 tokens or multiples, not {problem.page_size}"))

    def formats(self, problem):
        return ["NHD", "HND", "combined", "joint", "joint_hnd"] if problem.cache_scales == "tensor" else []

    def numerics(self, problem):
        return {"lse": False, "qk_input": problem.dtype, "p": problem.dtype}

    def plan(self, batch):
        return TritonUnifiedPlan(batch, self.attend)


def mm_prefix_ranges(batch):
    """vLLM's array of the spans of prompts: i32 [requests, ranges, 2], the first and the last position of each range
    among the request's keys, 0, 0 behind a request's last one. Of a span that goes on behind the keys, those there are:
    the kernel does not look for their end."""
    spans, ranges, first = batch.tensor("spans").torch(), [], 0
    of_tokens = spans.tolist()
    for q_len, kv_len in zip(batch.q_lens, batch.kv_lens):
        own = dict.fromkeys((begin, min(end, kv_len) - 1) for begin, end in of_tokens[first:first + q_len] if begin < end)
        ranges.append(list(own))
        first += q_len
    most = max(1, *map(len, ranges))
    return spans.new_tensor([own + [(0, 0)] * (most - len(own)) for own in ranges])


class TritonUnifiedPlan(Plan):
    # v1/attention/backends/triton_attn.py: below so many programs, the keys of a decode are cut into segments.
    LEAST_PROGRAMS, SEGMENTS, MOST_DRAFTS = 128, 16, 8
    # Batch sizes for which it records graphs, up to 128: with graphs the threshold is the nearest of them.
    CAPTURED = (1, 2, 4, *range(8, 129, 8))

    def bind(self, batch, attend):
        problem, torch = self.problem, self.torch
        self.attend = attend
        self.threshold = self.LEAST_PROGRAMS // problem.heads_kv
        if problem.recorded:
            self.threshold = min(self.CAPTURED, key=lambda size: abs(size - self.threshold))
        # Later versions cut the keys of short chains of drafts, too, and then have rows for each of their tokens.
        drafts = min(self.longest(batch)[0], self.MOST_DRAFTS) if problem.mode == "target_verify" else 1
        dim = 1 << (problem.head_dim_v - 1).bit_length()
        shape = (max(self.threshold, 1) * drafts, problem.heads_q, self.SEGMENTS)
        self.segments = reserved(batch, *((size, torch.float32) for size in ((*shape, dim), shape, shape)))
        self.scales = [torch.tensor([scale], device="cuda") for scale in (batch.k_scale, batch.v_scale)]
        self.slopes = torch.tensor(alibi_slopes(problem), device="cuda") if problem.has_alibi else None
        self.scale = self.logit_scale(batch)
        self.output_scale = None
        if problem.out_dtype == "e4m3":  # what would be multiplied into stored outputs joins the scale that they are divided by
            self.output_scale = torch.tensor([batch.out_scale / self.out_scale], device="cuda")
            self.out_scale = 1

    def prepare(self, batch):
        problem, window = self.problem, self.window
        table = batch.indices("page_table")
        longest_q, longest_kv = self.longest(batch)
        fp8 = problem.cache_dtype == "e4m3"
        output, largest, sums = self.segments
        self.arguments = {
            "q": self.q, "k": self.k_cache, "v": self.v_cache, "out": self.out,
            "cu_seqlens_q": batch.indices("varlen")["cu_seqlens_q"].torch(), "max_seqlen_q": longest_q,
            "seqused_k": table["cache_seqlens"].torch(), "max_seqlen_k": longest_kv,
            "softmax_scale": self.scale, "causal": True,
            "window_size": (window, 0 if window >= 0 else -1), "block_table": table["page_table"].torch(),
            "softcap": problem.logit_cap, "q_descale": None, "k_descale": self.scales[0] if fp8 else None,
            "v_descale": self.scales[1] if fp8 else None, "seq_threshold_3D": self.threshold,
            "num_par_softmax_segments": self.SEGMENTS, "softmax_segm_output": output, "softmax_segm_max": largest,
            "softmax_segm_expsum": sums, "sinks": self.sinks, "alibi_slopes": self.slopes,
            "output_scale": self.output_scale, "kv_quant_mode": 1 if fp8 else 0}
        if problem.spans:
            self.arguments["mm_prefix_range"] = mm_prefix_ranges(batch)

    def launch(self):
        self.attend(**self.arguments)
