# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel of chosen_rows.py. It imports triton, so that a plan imports it."""
import triton
import triton.language as tl


@triton.jit
def write_rows(lists_ptr, lengths_ptr, requests_ptr, block_table_ptr, rows_ptr, counts_ptr, topk, page_size, list_stride,
               length_stride, table_stride, rows_stride, IN_FRONT: tl.constexpr, COLUMNS: tl.constexpr):
    """One program: the list of one query token. int32 throughout.

    lists [tokens, topk], lengths, requests [tokens], block_table [requests, pages], rows [tokens, topk], each but the last
    behind its own stride. An entry that is -1, or at or behind the length of its list, becomes -1. IN_FRONT: the others
    stand in front, in their order, and counts [tokens] says how many.
    """
    token, column = tl.program_id(0), tl.arange(0, COLUMNS)
    listed = column < topk
    key = tl.load(lists_ptr + token * list_stride + column, mask=listed, other=-1)
    there = (key >= 0) & (column < tl.load(lengths_ptr + token * length_stride))
    table = block_table_ptr + tl.load(requests_ptr + token).to(tl.int64) * table_stride
    page = tl.load(table + key // page_size, mask=there, other=0)
    row = page * page_size + key % page_size
    to = rows_ptr + token.to(tl.int64) * rows_stride
    if IN_FRONT:
        ones = there.to(tl.int32)
        count = tl.sum(ones, 0)
        tl.store(to + tl.cumsum(ones, 0) - 1, row, mask=there)
        tl.store(to + column, -1, mask=listed & (column >= count))
        tl.store(counts_ptr + token, count)
    else:
        tl.store(to + column, tl.where(there, row, -1), mask=listed)
