# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Lists of chosen keys as engines hand them to kernels of sparse attention: as rows of the whole cache."""
from engine_tools import first_reason, request_rows


def no_lists_of_keys(problem):
    """Why lists are none for a kernel that is given a row for each entry, one list for all query heads; None where they
    are, or the layer has none."""
    return None if problem.topk == 0 else first_reason(
        (problem.topk_unit != 1, f"lists of single keys only, not of units of {problem.topk_unit}"),
        (problem.topk_groups != 1, f"one list for all query heads only, not {problem.topk_groups}"))


def physical_rows(where, lists, lengths, requests, columns, block_table, page_size):
    """[tokens, topk] the row of each entry, -1 for entries that are none or do not count: those are skipped by every
    kernel, and topk_length is left out by some.

    where: torch's. lists [tokens, topk], lengths [tokens]: of the batch. requests [tokens]: whose each token is.
    columns: 0 to topk - 1. block_table [requests, pages].
    """
    counted = (lists >= 0) & (columns < lengths[:, None])
    keys = lists.clip(0)
    pages = block_table[requests[:, None], keys // page_size]
    return where(counted, pages * page_size + keys % page_size, -1)


class ChosenRows:
    """The lists of a plan's steps as rows. Everything is done by the device, on the current stream: the lists of a
    recorded plan's next step are there, at other addresses."""

    def __init__(self, batch):
        import torch
        self.where, self.take, self.page_size = torch.where, torch.take_along_dim, batch.problem.page_size
        device = batch.tensor("topk_indices").torch().device
        # In a recorded plan all requests have the same number of tokens, in every step.
        requests = torch.repeat_interleave(torch.arange(batch.batch_size), torch.tensor(batch.q_lens))
        self.requests, self.columns = requests.to(device), torch.arange(batch.problem.topk, device=device)

    def lengths(self, batch):
        """[tokens]: topk_length of a step."""
        return request_rows(batch, "topk_length")[:, 0]

    def of(self, batch):
        """[tokens, topk]: physical_rows() of a step."""
        return physical_rows(self.where, request_rows(batch, "topk_indices")[:, 0], self.lengths(batch), self.requests,
                             self.columns, batch.tensor("block_table").torch(), self.page_size)

    def in_front(self, batch):
        """The same with -1 behind all rows, as vLLM's conversion leaves them, and [tokens] how many rows there are."""
        rows = self.of(batch)
        there = rows >= 0
        order = self.where(there, self.columns, self.columns + len(self.columns)).argsort(1)
        return self.take(rows, order, 1), there.sum(1)
