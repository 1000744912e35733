# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Problems as the host hands them to packs, for their tests."""
import types


def problem(**changed):
    """A decode of llama-3.1-8b, as problem_of() of the host describes it, with some of it changed."""
    plain = dict(family="softmax", heads_q=32, heads_kv=8, head_dim_qk=128, head_dim_v=128, causal=True,
                 is_cross_attention=False, has_sinks=False, has_alibi=False, window_counts_depth=False,
                 sliding_window_size=-1, scale=0.1, logit_cap=0.0, ranks=1, dtype="bf16", cache_dtype="bf16",
                 cache_layout="NHD", page_size=16, mode="decode", recorded=False, max_requests=4, max_q_len=1,
                 max_q_tokens=4, max_kv_len=900, step="attention", cache_scales="tensor",
                 attention_chunk=0, dual_chunk_size=0, temperature_len=0, causal_block=1, multi_item=False,
                 empty_rows=False, queries_apart=False, drafts_are_chains=False, spans=False,
                 spans_within_window=False, topk=0, topk_unit=1, topk_groups=1, topk_length_counts=False,
                 topk_repeats=False, index_heads=64, compress_ratio=0)
    whole = {**plain, **changed}
    return types.SimpleNamespace(**{"q_dtype": whole["dtype"], "out_dtype": whole["dtype"], "q_scales": "tensor",
                                    "page_stride": whole["page_size"], **whole})


LATENT = dict(family="latent", heads_q=16, heads_kv=1, head_dim_qk=576, head_dim_v=512, page_size=64)
BLOCKS = dict(cache_dtype="e4m3", cache_scales="block")
CHAIN = dict(mode="target_verify", max_q_len=4, max_q_tokens=16, drafts_are_chains=True)
TREE = dict(mode="target_verify", max_q_len=16, max_q_tokens=64)
CHUNK = dict(mode="extend", max_q_len=100, max_q_tokens=300)
DELTA_NET = dict(family="recurrent", heads_q=16, heads_kv=32)
