# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""The kernels of triton_example_pack.py. It imports triton, so that the pack imports it in load()."""
import triton
import triton.language as tl


@triton.jit
def attend_split(q_ptr, k_ptr, v_ptr, part_ptr, part_lse_ptr, block_table_ptr, seq_lens_ptr, scale, q_token, q_head,
                 k_page, k_offset, k_head, v_page, v_offset, v_head, table_width,
                 PAGE: tl.constexpr, GROUP: tl.constexpr, ROWS: tl.constexpr, DIM: tl.constexpr, KEYS: tl.constexpr):
    """One program: the query heads of one request that share a KV head, over one share of the request's keys."""
    request, kv_head, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    kv_len = tl.load(seq_lens_ptr + request)
    share = tl.cdiv(tl.cdiv(kv_len, tl.num_programs(2)), KEYS) * KEYS
    first = split * share
    last = tl.minimum(first + share, kv_len)

    rows, dims = tl.arange(0, ROWS), tl.arange(0, DIM)  # tl.dot wants at least 16 rows: those behind GROUP are zeros
    heads = kv_head * GROUP + rows
    q = tl.load(q_ptr + request * q_token + heads[:, None] * q_head + dims, mask=rows[:, None] < GROUP, other=0.0)
    top = tl.full([ROWS], float("-inf"), tl.float32)  # largest logit so far
    total = tl.zeros([ROWS], tl.float32)  # sum of the weights exp(logit - top)
    values = tl.zeros([ROWS, DIM], tl.float32)  # sum of weight times value
    for begin in range(first, last, KEYS):
        keys = begin + tl.arange(0, KEYS)
        there = keys < last  # what lies behind the last key is not read: it may be NaN
        page = tl.load(block_table_ptr + request * table_width + keys // PAGE, mask=there, other=0).to(tl.int64)
        k_rows = k_ptr + page * k_page + keys % PAGE * k_offset + kv_head * k_head
        v_rows = v_ptr + page * v_page + keys % PAGE * v_offset + kv_head * v_head
        k = tl.load(k_rows[None, :] + dims[:, None], mask=there[None, :], other=0.0)  # [DIM, KEYS]
        v = tl.load(v_rows[:, None] + dims, mask=there[:, None], other=0.0)  # [KEYS, DIM]
        logits = tl.where(there, tl.dot(q, k) * scale, float("-inf"))
        higher = tl.maximum(top, tl.max(logits, 1))
        weights = tl.exp(logits - higher[:, None])
        shrink = tl.exp(top - higher)  # what was summed under a lower top weighs less now; 0 at first
        total = total * shrink + tl.sum(weights, 1)
        values = values * shrink[:, None] + tl.dot(weights.to(v.dtype), v)
        top = higher

    # [request, head, split]; a share without keys has LSE -inf and values 0.
    place = (request * tl.num_programs(1) * GROUP + heads) * tl.num_programs(2) + split
    tl.store(part_lse_ptr + place, top + tl.log(total), mask=rows < GROUP)
    part = values / tl.where(total > 0, total, 1.0)[:, None]
    tl.store(part_ptr + place[:, None] * DIM + dims, part, mask=rows[:, None] < GROUP)


@triton.jit
def merge_splits(part_ptr, part_lse_ptr, out_ptr, lse_ptr, v_scale, out_token, out_head, lse_token, lse_head,
                 SPLITS: tl.constexpr, DIM: tl.constexpr):
    """One program: one query head of one request. The shares weigh exp(LSE), as Flash-Decoding merges them."""
    request, head = tl.program_id(0), tl.program_id(1)
    splits, dims = tl.arange(0, SPLITS), tl.arange(0, DIM)
    place = (request * tl.num_programs(1) + head) * SPLITS + splits
    lses = tl.load(part_lse_ptr + place)
    top = tl.max(lses, 0)
    top = tl.where(top == float("-inf"), 0.0, top)  # a request without keys: no NaN from -inf - -inf
    weights = tl.exp(lses - top)
    total = tl.sum(weights, 0)
    parts = tl.load(part_ptr + place[:, None] * DIM + dims)
    out = tl.sum(weights[:, None] * parts, 0) / tl.where(total > 0, total, 1.0) * v_scale
    tl.store(out_ptr + request * out_token + head * out_head + dims, out.to(out_ptr.dtype.element_ty))
    tl.store(lse_ptr + request * lse_token + head * lse_head, top + tl.log(total))
