# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Compressed rows beside a window, as engines hand DeepSeek-V4's to kernels: as rows of the whole cache."""


class CompressedRows:
    """What the query tokens of a plan's steps see. take() belongs to prepare(). write() belongs to launch() where lists
    say which compressed rows are seen, since a selector of the same step may have left them, and an engine converts them
    in each layer; else to prepare(), since an engine finds the others once for all layers."""

    def __init__(self, batch):
        import torch
        from compressed_rows_kernel import write_rows
        problem, self.torch, self.kernel = batch.problem, torch, write_rows
        self.ratio = problem.compress_ratio
        self.has_lists = problem.topk > 0
        self.window = problem.max_kv_len if problem.sliding_window_size < 0 else problem.sliding_window_size + 1
        complete = problem.max_kv_len // self.ratio if self.ratio > 0 else 0
        self.most_rows = problem.topk or complete
        self.recorded = problem.recorded
        slots = batch.tensor("req_to_token").torch()
        tokens = sum(batch.q_lens)
        self.slots = slots.new_zeros(batch.batch_size, min(problem.max_kv_len + complete, slots.shape[1]))
        self.tokens = slots.new_zeros(tokens, 3)
        self.lists, self.lengths = (slots.new_zeros(tokens, columns) for columns in (max(problem.topk, 1), 1))

    def take(self, batch):
        """The tokens of a step, and where their requests' rows, their lists and the lengths of these are."""
        slots, requests = (batch.tensor(name).torch() for name in ("req_to_token", "req_pool_indices"))
        self.slots.copy_(slots.index_select(0, requests)[:, :self.slots.shape[1]])
        seen = [(request, kv_len - q_len + 1 + token, kv_len)
                for request, (q_len, kv_len) in enumerate(zip(batch.q_lens, batch.kv_lens)) for token in range(q_len)]
        self.tokens.copy_(self.torch.tensor(seen, dtype=self.torch.int32))
        if not self.has_lists:
            return
        lists, lengths = (batch.tensor(name).torch() for name in ("topk_indices", "topk_length"))
        if self.recorded:  # the next step's are at other addresses
            self.lists.copy_(lists[:len(self.tokens), 0])
            self.lengths.copy_(lengths[:len(self.tokens)])
        else:
            self.lists, self.lengths = lists[:len(self.tokens), 0], lengths[:len(self.tokens)]

    def write(self, rows, counts):
        """Writes into rows, i32 [tokens, columns or more], the compressed rows that each token sees and then those of its
        window, -1 behind them, and how many they are into counts, i32 [tokens]."""
        columns = 1 << max(self.most_rows + self.window - 1, 0).bit_length()
        self.kernel[(len(self.tokens),)](
            self.lists, self.lengths, self.tokens, self.slots, rows, counts, self.most_rows, self.window, self.ratio or 1,
            self.lists.stride(0), self.lengths.stride(0), self.slots.stride(0), rows.stride(0), HAS_LISTS=self.has_lists,
            COLUMNS=columns, num_warps=8 if columns > 512 else 4)
