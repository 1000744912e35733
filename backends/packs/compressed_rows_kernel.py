# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel of compressed_rows.py. It imports triton, so that a plan imports it."""
import triton
import triton.language as tl


@triton.jit
def write_rows(lists_ptr, lengths_ptr, tokens_ptr, slots_ptr, rows_ptr, counts_ptr, listed, window, ratio, list_stride,
               length_stride, slots_stride, rows_stride, HAS_LISTS: tl.constexpr, COLUMNS: tl.constexpr):
    """One program: the rows of one query token, those of its list or all complete ones, then its window's. int32
    throughout.

    tokens [tokens, 3]: the request, how many of its tokens the query sees, and how many it has. slots: a request's tokens,
    then its compressed rows. `listed` and `window`: the most of both. rows [tokens, listed + window].
    """
    token, column = tl.program_id(0), tl.arange(0, COLUMNS)
    request = tl.load(tokens_ptr + 3 * token)
    seen = tl.load(tokens_ptr + 3 * token + 1)
    kv_len = tl.load(tokens_ptr + 3 * token + 2)
    row, there = column, column < listed
    if HAS_LISTS:
        row = tl.load(lists_ptr + token.to(tl.int64) * list_stride + column, mask=there, other=-1)
        there = there & (column < tl.load(lengths_ptr + token * length_stride))
    there = there & (row >= 0) & (row < seen // ratio)
    first = tl.maximum(seen - window, 0)
    own = first + column - listed
    in_window = (column >= listed) & (own < seen)
    key = tl.where(in_window, own, kv_len + row)
    there = there | in_window
    slot = tl.load(slots_ptr + request.to(tl.int64) * slots_stride + key, mask=there, other=0)
    ones = there.to(tl.int32)
    count = tl.sum(ones, 0)
    to = rows_ptr + token.to(tl.int64) * rows_stride
    tl.store(to + tl.cumsum(ones, 0) - 1, slot, mask=there)
    tl.store(to + column, -1, mask=(column < listed + window) & (column >= count))
    tl.store(counts_ptr + token, count)
